package reading_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStepsOfLongLogs: the steps of long logs are the same however they are read: which lines the sample has depends on nothing else.
func TestStepsOfLongLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("other tests of short logs read them in as many ways")
	}
	engine, _ := known(t)
	rnd := rand.New(rand.NewPCG(7, 7))
	steps := func(n, slow int) string {
		var b strings.Builder
		for step := 1; step <= n; step++ {
			seconds := 0.3 + 0.01*float64(step%5)
			if step >= slow {
				seconds *= 5
			}
			fmt.Fprintf(&b, "iter %d: loss %.4f, time %.2fms, mfu 31.20%%\n", step, 2+8/float64(step), 1000*seconds)
		}
		return b.String()
	}
	for _, c := range []struct{ steps, slow int }{{2100, 2050}, {30_000, 20_011}, {50_000, 49_900}} {
		log := filler(rnd, 3000) + steps(c.steps, c.slow)
		judged(t, engine, []byte(log))
		judged(t, engine, []byte(strings.TrimSuffix(log, "\n")), []byte(strings.ReplaceAll(log, "\niter 2", "\riter 2")))
	}
	var long bytes.Buffer
	for long.Len() < 1<<20 {
		long.WriteString(steps(100, 101))
	}
	var ranks strings.Builder
	for s := range 5001 { // two ranks that make a step each two seconds, of which one stops
		for rank, last := range []int{2000, 2001} {
			if s%2 == 0 && s/2 <= last {
				fmt.Fprintf(&ranks, "[rank%d]: 2026-03-01 %02d:%02d:%02d,000 - train - INFO - step %d loss 2.5\n", rank, 9+s/3600, s/60%60, s%60, s/2)
			}
			if s%15 == 0 {
				fmt.Fprintf(&ranks, "[rank%d]: 2026-03-01 %02d:%02d:%02d,000 - train - INFO - alive, %d MiB\n", rank, 9+s/3600, s/60%60, s%60, 51000+s)
			}
		}
	}
	judged(t, engine, bytes.ReplaceAll(long.Bytes(), []byte("\n"), []byte("\r")), []byte(ranks.String()))
}
