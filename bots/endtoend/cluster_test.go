package endtoend

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// roomOfNode is what a node of NATS may store, in bytes. Without it a node promises only three quarters of what the disk has free just then, and
// the streams of several tests that run beside each other ask for more.
const roomOfNode = 1 << 50

// cluster starts a NATS server with JetStream that replicas share.
func cluster(t testing.TB) (url string) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, JetStreamMaxStore: roomOfNode,
		StoreDir: t.TempDir(), SyncAlways: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server did not start")
	}
	return s.ClientURL()
}

// Two replicas share the work; when one is killed in the middle of it, the other ends it, and no issue is answered twice.
func TestTwoReplicasOneKilled(t *testing.T) {
	g := newGitHub(t)
	settings := append(g.asApp(), "NATS_URL="+cluster(t))
	first, second := start(t, t.TempDir(), settings...), start(t, t.TempDir(), settings...)
	const issues = 30
	for n := 1; n <= issues; n++ {
		g.open(n, "ann", body(t))
		to := []*process{first, second}[n%2]
		g.aim(to)
		// The same issue through both doors.
		for range 2 {
			if code := g.deliver("issues", guid(), g.payload(n, "opened", nil)); code != http.StatusOK {
				t.Fatalf("issue %d: %d", n, code)
			}
			g.aim(map[bool]*process{true: second, false: first}[to == first])
		}
		if n == issues/2 {
			first.kill()
			first = second
		}
	}
	for n := 1; n <= issues; n++ {
		eventually(t, fmt.Sprintf("a comment on issue %d", n), second, func() bool { return len(g.ours(n)) >= 1 })
	}
	settled(t, second)
	for n := 1; n <= issues; n++ {
		if got := len(g.ours(n)); got != 1 {
			t.Errorf("issue %d has %d comments", n, got)
		}
	}
}
