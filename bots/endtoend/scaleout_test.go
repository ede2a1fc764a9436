package endtoend

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// Three replicas over a NATS cluster of three: while work comes in, a replica and a node are killed, and both come back. What one replica does
// not take, its sender brings to another, as a load balancer would. Nothing is lost and nothing answered twice. Without a majority of the
// nodes nothing is acknowledged, and with it again all goes on.
func TestReplicasAndNodesKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("six processes under load")
	}
	t.Parallel()
	g, s := newGitHub(t), newSlack(t)
	nats := startNATS(t, 3)
	settings := append(append(g.asApp(), s.settings()...), nats.setting(), "TRIAGE_NATS_REPLICAS=3")
	var replicas []*process
	for range 3 {
		replicas = append(replicas, start(t, t.TempDir(), settings...))
	}
	log, _ := failingLog(t)
	issue := func(n int) func(p *process) int {
		g.open(n, "ann", body(t))
		id, payload := guid(), g.payload(n, "opened", nil)
		return func(p *process) int { g.aim(p); return g.deliver("issues", id, payload) }
	}
	message := func(n int) func(p *process) int {
		data, _ := json.Marshal(map[string]any{"type": "event_callback", "event_id": fmt.Sprint("Ev", n), "team_id": "T1", "event": map[string]any{
			"type": "app_mention", "channel": "C1", "user": "U1", "ts": fmt.Sprintf("1699.%03d", n), "text": "<@UBOT> " + log}})
		return func(p *process) int {
			code, _ := s.request(p, "/slack/events", "application/json", data, time.Now())
			return code
		}
	}
	// take brings a request to one replica after the other until one acknowledges it.
	take := func(n int, deliver func(p *process) int) {
		t.Helper()
		for until := time.Now().Add(30 * time.Second); time.Now().Before(until); n++ {
			if deliver(replicas[n%3]) == http.StatusOK {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatal("nobody takes the request")
	}
	const requests = 24 // of each service
	for n := 1; n <= requests; n++ {
		switch n {
		case 6:
			replicas[0].kill()
		case 10:
			nats.kill(1)
		case 15:
			nats.start(1)
			replicas[0] = start(t, t.TempDir(), settings...)
		case 19:
			replicas[1].kill()
			replicas[1] = start(t, t.TempDir(), settings...)
		}
		take(n, issue(n))
		take(n, message(n))
	}
	one := replicas[2]
	answeredOnce := func(issues int) {
		t.Helper()
		for n := 1; n <= issues; n++ {
			eventually(t, fmt.Sprintf("a comment on issue %d", n), one, func() bool { return len(g.ours(n)) >= 1 })
		}
		eventually(t, "the answers in Slack", one, func() bool { return len(s.in("C1")) >= requests })
		settled(t, one)
		for n := 1; n <= issues; n++ {
			if got := len(g.ours(n)); got != 1 {
				t.Errorf("issue %d has %d comments", n, got)
			}
		}
		threads := map[string]int{}
		for _, m := range s.in("C1") {
			threads[m.Thread]++
		}
		for n := 1; n <= requests; n++ {
			if got := threads[fmt.Sprintf("1699.%03d", n)]; got != 1 {
				t.Errorf("message %d has %d answers", n, got)
			}
		}
	}
	answeredOnce(requests)

	nats.kill(0) // node 1 has caught up: without it, node 2 would be no majority
	for n := requests + 1; n <= requests+6; n++ {
		take(n, issue(n))
	}
	nats.kill(2) // perhaps before these are answered
	last := issue(requests + 7)
	eventually(t, "no acknowledgement without a majority", one, func() bool { return last(one) == http.StatusServiceUnavailable })
	eventually(t, "/readyz says no", one, func() bool { code, _ := one.get("/readyz"); return code == http.StatusServiceUnavailable })
	nats.start(0)
	nats.start(2)
	take(0, last)
	answeredOnce(requests + 7)
}
