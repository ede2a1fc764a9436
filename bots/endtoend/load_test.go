package endtoend

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkWebhooks sends signed webhooks at a steady rate and prints how long their acknowledgement took and how many were lost:
// stored jobs that neither wait nor were answered. The bot answers meanwhile; the sender and the fake GitHub share the processors with
// it. Set TRIAGE_LOAD to "rate seconds", 1000 30 by default. Run it alone:
//
//	go test ./bots/endtoend -run '^$' -bench Webhooks -benchtime 1x
func BenchmarkWebhooks(b *testing.B) {
	rate, seconds := 1000, 30
	if load := os.Getenv("TRIAGE_LOAD"); load != "" {
		if _, err := fmt.Sscan(load, &rate, &seconds); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		load(b, rate, seconds)
	}
}

func load(b *testing.B, rate, seconds int) {
	g := newGitHub(b)
	p := start(b, b.TempDir(), g.withToken()...)
	g.aim(p)
	total := rate * seconds
	text := body(b)
	payloads := make([][]byte, total)
	for i := range payloads {
		payloads[i] = fmt.Appendf(nil, `{"action":"opened","issue":{"number":%d,"body":%q,"user":{"login":"ann","type":"User"}},`+
			`"repository":{"full_name":"o/r"},"sender":{"login":"ann","type":"User"}}`, i+1, text)
	}
	took := make([]time.Duration, total)
	codes := make([]int, total)
	var group sync.WaitGroup
	gate := make(chan struct{}, 256) // GitHub does not open a connection for each delivery
	began := time.Now()
	for i := range total {
		time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		group.Go(func() {
			due := time.Now()
			gate <- struct{}{}
			codes[i] = post(p.address+"/github/webhook", payloads[i], "X-GitHub-Event", "issues", "X-GitHub-Delivery", guid(),
				"X-Hub-Signature-256", sign(payloads[i]), "Content-Type", "application/json")
			<-gate
			took[i] = time.Since(due)
		})
	}
	group.Wait()
	elapsed := time.Since(began)
	acknowledged := 0
	for _, code := range codes {
		if code == 200 {
			acknowledged++
		}
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	_, page := p.get("/metrics")
	stored := 0.0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, `triage_jobs_total{event="stored",kind="github"}`) {
			_, _ = fmt.Sscan(strings.Fields(line)[1], &stored)
		}
	}
	waiting := metric(page, "triage_queue_depth")
	dead := metric(page, "triage_dead_letters")
	done := metric(page, `triage_jobs_total{event="done",kind="github"}`)
	b.ReportMetric(float64(total)/elapsed.Seconds(), "requests/s")
	b.ReportMetric(float64(took[total/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[total*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(took[total-1].Microseconds())/1000, "max-ms")
	b.ReportMetric(float64(total-acknowledged), "refused")
	b.ReportMetric(float64(acknowledged)-waiting-dead-done, "lost")
	b.ReportMetric(done, "answered")
	p.kill()
}

func metric(page, name string) (value float64) {
	for line := range strings.Lines(page) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			_, _ = fmt.Sscan(rest, &value)
		}
	}
	return value
}
