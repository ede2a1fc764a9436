//go:build unix

package bots

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpu-triage/triage/bots/fetch"
)

// hostile are logs that have no end. Each writes its i-th part.
func hostile(words []string) map[string]func(w io.Writer, i int) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string { return words[random.IntN(len(words))] }
	frame := "  File \"/w/a%d.py\", line %d, in f%d\n    f%d()\n"
	return map[string]func(w io.Writer, i int){
		"one line":    func(w io.Writer, _ int) { io.WriteString(w, "xyz RuntimeError: CUDA out of memory {[( ") },
		"empty lines": func(w io.Writer, _ int) { io.WriteString(w, "\n\n\n\n\n\n\n\n") },
		"tracebacks": func(w io.Writer, i int) {
			fmt.Fprintf(w, "Traceback (most recent call last):\n"+frame+"MyError%d: bad %d\n", i, i, i, i, i, i)
		},
		"a chain of exceptions": func(w io.Writer, i int) {
			fmt.Fprintf(w, "Traceback (most recent call last):\n"+frame+"E%d: bad\n\nDuring handling of the above exception, another exception occurred:\n\n", i, i, i, i, i)
		},
		"frames": func(w io.Writer, i int) { fmt.Fprintf(w, frame, i, i, i, i) },
		"ranks": func(w io.Writer, i int) {
			fmt.Fprintf(w, "[rank%d]: Traceback (most recent call last):\n[rank%d]:   File \"/w/a.py\", line 1, in f\n[rank%d]: ValueError: bad %d\n", i, i, i, i)
		},
		"ranks in JSON": func(w io.Writer, i int) {
			fmt.Fprintf(w, "{\"level\":\"error\",\"rank\":%d,\"msg\":\"RuntimeError: NCCL error %d\"}\n", i, i)
		},
		"facts":                  func(w io.Writer, i int) { fmt.Fprintf(w, "export VAR%d=x%d torch==2.%d.0 node%d\n", i, i, i, i) },
		"keywords":               func(w io.Writer, _ int) { fmt.Fprintf(w, "%s %s %s\n", word(), word(), word()) },
		"keywords in long lines": func(w io.Writer, i int) { fmt.Fprintf(w, "%s %.*s", word(), i/500%2, "\n") },
		"keywords in exceptions": func(w io.Writer, i int) {
			fmt.Fprintf(w, "Traceback (most recent call last):\n"+frame+"RuntimeError: %s %s %d\n", i, i, i, i, word(), word(), i)
		},
	}
}

// keywords are those of the shipped signatures.
func keywords(t testing.TB, e Engine) (words []string) {
	t.Helper()
	for _, s := range e.Matcher.Base().Signatures() {
		words = append(words, s.Keywords...)
	}
	if len(words) < 100 {
		t.Fatalf("%d keywords", len(words))
	}
	return words
}

// endless makes a file that has no end. Whoever reads it must stop by himself.
func endless(t testing.TB, part func(w io.Writer, i int)) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipe: %v", err)
	}
	go func() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return
		}
		defer file.Close()
		w := bufio.NewWriterSize(file, 64<<10)
		for i := 0; ; i++ {
			part(w, i)
			if _, err := w.Write(nil); err != nil { // an earlier one failed: nobody reads any more
				return
			}
		}
	}()
	return path
}

// diagnosed diagnoses one log, and returns the most memory that was in use meanwhile.
func diagnosed(t testing.TB, e Engine, path string) (said string, live uint64) {
	t.Helper()
	stop := make(chan struct{})
	most := make(chan uint64)
	go func() {
		var peak uint64
		for {
			sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
			metrics.Read(sample)
			peak = max(peak, sample[0].Value.Uint64())
			select {
			case <-stop:
				most <- peak
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	answer, err := e.Answer(context.Background(), []fetch.Log{{Name: "log", Path: path}}, nil)
	close(stop)
	if err != nil {
		t.Error(err)
	}
	data, err := json.Marshal(answer)
	if err != nil {
		t.Error(err)
	}
	return string(data), <-most
}

// A diagnosis ends when its time is over, within whatever line or traceback, and its memory and its report are bounded.
func TestHostileLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds, and the race detector takes memory of its own")
	}
	e := engine(t).Apart(1, 300*time.Millisecond)
	for name, part := range hostile(keywords(t, e)) {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			said, live := diagnosed(t, e, endless(t, part))
			if !strings.Contains(said, "Not all of `log` was read") {
				t.Errorf("the report does not say that it is not about the whole log: %.300s", said)
			}
			if live > 256<<20 || len(said) > 2<<20 {
				t.Errorf("%d MiB in use, a report of %d bytes", live>>20, len(said))
			}
		})
	}
}

// BenchmarkHostileLogs gives each log the whole time of a posted one, and prints how much longer it took and how much memory.
func BenchmarkHostileLogs(b *testing.B) {
	const limit = 30 * time.Second
	e := engine(b).Apart(1, limit)
	for name, part := range hostile(keywords(b, e)) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				runtime.GC()
				began := time.Now()
				said, live := diagnosed(b, e, endless(b, part))
				b.ReportMetric((time.Since(began) - limit).Seconds(), "s-over")
				b.ReportMetric(float64(live>>20), "MiB")
				b.ReportMetric(float64(len(said)), "report-bytes")
			}
		})
	}
}
