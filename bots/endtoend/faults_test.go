package endtoend

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/bots/endtoend/smalldisk"
)

// nowhere is where nobody answers, so that what is stored waits.
const nowhere = "GITHUB_API_URL=http://127.0.0.1:9"

// While the disk is full, requests are refused at once, so that their sender sends them again, and the server says that it is not ready.
// It can be started all the same, with work that waits. When there is room it works again by itself, and all that was acknowledged is
// answered once.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, 24)
	data := filepath.Join(disk, "data")
	g := newGitHub(t)
	settings := append(g.asApp(), "TRIAGE_STORE_MIB=16", door(t))
	p := start(t, data, append(slices.Clone(settings), nowhere)...)
	g.aim(p)
	deliver := func(p *process, n int) int {
		g.open(n, "ann", body(t))
		return g.deliver("issues", guid(), g.payload(n, "opened", nil))
	}
	for n := 1; n <= 5; n++ {
		if code := deliver(p, n); code != http.StatusOK {
			t.Fatalf("delivery %d: %d", n, code)
		}
	}
	free := smalldisk.Fill(t, disk)
	refuses := func(when string, p *process) {
		t.Helper()
		for path, want := range map[string]int{"/readyz": 503, "/healthz": 200} {
			if code, said := p.get(path); code != want {
				t.Errorf("%s, %s: %d %s", when, path, code, said)
			}
		}
		if _, page := p.get("/metrics"); !strings.Contains(page, "\ntriage_store_writable 0\n") || !strings.Contains(page, "\ntriage_queue_depth 5\n") {
			t.Errorf("%s: the metrics do not say so", when)
		}
		began := time.Now()
		if code := deliver(p, 100); code != http.StatusServiceUnavailable || time.Since(began) > 2*time.Second {
			t.Errorf("%s: a delivery is answered with %d after %v", when, code, time.Since(began))
		}
	}
	refuses("full", p)
	p.kill()
	p = start(t, data, settings...)
	refuses("started while full", p)
	free()
	eventually(t, "readiness", p, func() bool { code, _ := p.get("/readyz"); return code == http.StatusOK })
	if code := deliver(p, 6); code != http.StatusOK {
		t.Errorf("with room again: %d", code)
	}
	for n := 1; n <= 6; n++ {
		eventually(t, fmt.Sprintf("a comment on issue %d", n), p, func() bool { return len(g.ours(n)) >= 1 })
	}
	settled(t, p)
	for n := 1; n <= 6; n++ {
		if got := len(g.ours(n)); got != 1 {
			t.Errorf("issue %d has %d comments", n, got)
		}
	}
}

// A volume of 2 GiB is enough, with all settings as they are, also to start again while work waits.
func TestSmallVolume(t *testing.T) {
	t.Parallel()
	data := filepath.Join(smalldisk.New(t, 2048), "data")
	g := newGitHub(t)
	settings := append(g.asApp(), door(t))
	p := start(t, data, append(slices.Clone(settings), nowhere)...)
	g.aim(p)
	g.open(1, "ann", body(t))
	if code := g.deliver("issues", guid(), g.payload(1, "opened", nil)); code != http.StatusOK {
		t.Fatalf("the delivery: %d", code)
	}
	p.kill()
	p = start(t, data, settings...)
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
}
