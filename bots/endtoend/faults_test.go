package endtoend

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	for n := 1; n <= 2; n++ {
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
		if _, page := p.get("/metrics"); !strings.Contains(page, "\ntriage_store_writable 0\n") || !strings.Contains(page, "\ntriage_queue_depth 2\n") {
			t.Errorf("%s: the metrics do not say so", when)
		}
		if code := deliver(p, 100); code != http.StatusServiceUnavailable {
			t.Errorf("%s: a delivery is answered with %d", when, code)
		}
	}
	refuses("full", p)
	p.kill()
	p = start(t, data, settings...)
	refuses("started while full", p)
	free()
	eventually(t, "readiness", p, func() bool { code, _ := p.get("/readyz"); return code == http.StatusOK })
	if code := deliver(p, 3); code != http.StatusOK {
		t.Errorf("with room again: %d", code)
	}
	for n := 1; n <= 3; n++ {
		eventually(t, fmt.Sprintf("a comment on issue %d", n), p, func() bool { return len(g.ours(n)) >= 1 })
	}
	settled(t, p)
	for n := 1; n <= 3; n++ {
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

// Of a damaged file of jobs that were acknowledged, what can be read is answered; the log and the metrics tell what is lost.
func TestDamagedJobFile(t *testing.T) {
	t.Parallel()
	const issues = 4
	g := newGitHub(t)
	data := t.TempDir()
	settings := append(g.asApp(), door(t))
	p := start(t, data, append(slices.Clone(settings), nowhere)...)
	g.aim(p)
	for n := 1; n <= issues; n++ {
		g.open(n, "ann", body(t))
		if code := g.deliver("issues", guid(), g.payload(n, "opened", nil)); code != http.StatusOK {
			t.Fatalf("delivery %d: %d", n, code)
		}
	}
	p.kill()
	files, err := filepath.Glob(filepath.Join(data, "store/jetstream/*/streams/TRIAGE_JOBS/msgs/*.blk"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files of jobs: %v %v", files, err)
	}
	jobs, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 64 {
		jobs[len(jobs)/3+i] ^= 0xff
	}
	if err := os.WriteFile(files[0], jobs, 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, data, settings...)
	settled(t, p)
	answered := 0
	for n := 1; n <= issues; n++ {
		switch len(g.ours(n)) {
		case 0:
		case 1:
			answered++
		default:
			t.Errorf("issue %d has %d comments", n, len(g.ours(n)))
		}
	}
	_, page := p.get("/metrics")
	lost := int(metric(page, "triage_store_lost_total"))
	if lost < 1 || lost > 2 || answered+lost < issues || metric(page, "triage_store_damaged_files_total") != 1 {
		t.Errorf("%d of %d are answered, %d counted as lost", answered, issues, lost)
	}
	if log := p.logged(); !strings.Contains(log, filepath.Base(files[0])) || !strings.Contains(log, "damaged") {
		t.Errorf("the log does not tell it: %s", log)
	}
}

// A damaged account of what was handed out loses nothing and does not keep the server from starting.
func TestDamagedConsumerFile(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	data := t.TempDir()
	settings := append(g.asApp(), door(t))
	p := start(t, data, append(slices.Clone(settings), nowhere)...)
	g.aim(p)
	g.open(1, "ann", body(t))
	if code := g.deliver("issues", guid(), g.payload(1, "opened", nil)); code != http.StatusOK {
		t.Fatalf("the delivery: %d", code)
	}
	eventually(t, "a try", p, func() bool { return strings.Contains(p.logged(), "will try again") })
	p.kill()
	file := filepath.Join(data, "store/jetstream/$G/streams/TRIAGE_JOBS/obs/github/o.dat")
	if err := os.WriteFile(file, []byte("\x16\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = start(t, data, settings...)
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
	if log := p.logged(); !strings.Contains(log, filepath.Dir(file)) || !strings.Contains(log, `"do":`) {
		t.Errorf("the log does not tell it: %s", log)
	}
}
