package endtoend

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// workflowRun is the delivery about a failed run.
func workflowRun(attempt int, conclusion string) []byte {
	return []byte(`{"action":"completed","workflow_run":{"id":5,"run_attempt":` + strconv.Itoa(attempt) + `,"name":"GPU CI","conclusion":"` + conclusion + `","head_sha":"` + strings.Repeat("ab", 20) +
		`","pull_requests":[]},"repository":{"full_name":"o/r"},"installation":{"id":99},"sender":{"login":"ann","type":"User"}}`)
}

// pytestLog is a job's log in which the second of three tests fails for a known cause.
func pytestLog() (log string) {
	const stamp = "2026-11-20T10:00:09.0000000Z "
	for _, line := range []string{"________ test_other ________", "", "tests/test_other.py:3: ", "E       assert 1 == 2", "________ test_train ________", "",
		"    def test_train():", ">       train.step(1)", "", "tests/test_train.py:12: ", "_ _ _ _ _ _", "nano/train.py:41: in step", "    model.to(\"cuda\")",
		"/opt/python/lib/python3.11/site-packages/torch/cuda/__init__.py:293: in _lazy_init", "    raise AssertionError(\"Torch not compiled with CUDA enabled\")",
		"E       AssertionError: Torch not compiled with CUDA enabled", "", "/opt/python/lib/python3.11/site-packages/torch/cuda/__init__.py:293: AssertionError",
		"________ test_last ________", "tests/test_train.py:77: in test_last"} {
		log += stamp + line + "\n"
	}
	return log
}

// A failed workflow gets a check run with annotations at the repository's own lines, and no comment unless that is wished.
func TestCheckRun(t *testing.T) {
	t.Parallel()
	log := "2026-11-20T10:00:05.0000000Z Traceback (most recent call last):\n" +
		"2026-11-20T10:00:05.0000000Z   File \"/home/runner/_work/r/r/examples/train.py\", line 20, in <module>\n" +
		"2026-11-20T10:00:05.0000000Z     main()\n" +
		"2026-11-20T10:00:05.0000000Z   File \"/home/runner/_work/r/r/nano/train.py\", line 40, in main\n" +
		"2026-11-20T10:00:05.0000000Z     model.to(\"cuda\")\n" +
		"2026-11-20T10:00:05.0000000Z   File \"/opt/python/lib/python3.11/site-packages/torch/cuda/__init__.py\", line 293, in _lazy_init\n" +
		"2026-11-20T10:00:05.0000000Z     raise AssertionError(\"Torch not compiled with CUDA enabled\")\n" +
		"2026-11-20T10:00:05.0000000Z AssertionError: Torch not compiled with CUDA enabled\n"
	g := newGitHub(t)
	g.jobLog, g.tree = log, []string{"README.md", "examples/train.py", "tests/test_train.py", "nano/train.py"}
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(7, "ann", "A change.")
	g.mu.Lock()
	g.issues[7].Pull = map[string]any{"url": "x"}
	g.mu.Unlock()
	g.deliver("workflow_run", guid(), workflowRun(1, "success"))
	g.fail("^POST /repos/o/r/check-runs$", false, status(403, "Resource not accessible by integration")) // an App without the permission
	g.deliver("workflow_run", guid(), workflowRun(9, "failure"))
	settled(t, p)
	noDead(t, p)
	for range 2 { // the second look finds the check run of the first
		g.deliver("workflow_run", guid(), workflowRun(1, "failure"))
		settled(t, p)
	}
	g.mu.Lock()
	g.jobLog = pytestLog()
	g.mu.Unlock()
	g.deliver("workflow_run", guid(), workflowRun(2, "failure"))
	settled(t, p)
	g.mu.Lock()
	first := *g.checks[0]
	g.mu.Unlock()
	g.deliver("workflow_run", guid(), workflowRun(3, "success"))
	settled(t, p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.checks) != 2 {
		t.Fatalf("%d check runs\n%s", len(g.checks), p.logged())
	}
	c := first
	if c.Name != "triage GPU CI" || c.Conclusion != "neutral" || !strings.Contains(c.Output.Summary, "torch-without-cuda") {
		t.Errorf("the check run is %+v", c)
	}
	if a := c.annotations; len(a) != 1 || a[0].Path != "nano/train.py" || a[0].Start != 40 || a[0].Level != "failure" || !strings.Contains(a[0].Message, "Fix: ") {
		t.Errorf("annotations %+v", a)
	}
	if len(g.checks) == 2 {
		// Where pytest tells the failure, the annotation is at the deepest of its places that is the repository's.
		if a := g.checks[1].annotations; len(a) == 0 || a[0].Path != "nano/train.py" || a[0].Start != 41 {
			t.Errorf("annotations of pytest's account: %+v", a)
		}
	}
	if c := g.checks[0]; c.Conclusion != "skipped" || c.Output.Title != "Outdated: attempt 3 passed" {
		t.Errorf("after the run passed, the check run is %+v", c)
	}
	for _, made := range g.comments {
		t.Errorf("a comment that nobody wished: %s", made.Body)
	}
}

// Killed between making a check run and keeping that, it makes no second one, and no annotation twice.
func TestCheckRunAfterKill(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	g.jobLog, _ = failingLog(t)
	g.tree = []string{"train/main.py"}
	data := t.TempDir()
	settings := append(g.asApp(), door(t))
	p := start(t, data, append(slices.Clone(settings), "TRIAGE_CRASH_AT=after-check")...)
	g.aim(p)
	g.deliver("workflow_run", guid(), workflowRun(1, "failure"))
	p.died()
	p = start(t, data, settings...)
	g.aim(p)
	settled(t, p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.checks) != 1 || len(g.checks[0].annotations) != 1 || g.checks[0].annotations[0].Path != "train/main.py" {
		t.Errorf("%d check runs: %+v\n%s", len(g.checks), g.checks[0], p.logged())
	}
}

// The manifest asks for what the bot does.
func TestManifestHasThePermissions(t *testing.T) {
	manifest, err := os.ReadFile("../manifests/github-app.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, permission := range []string{`"checks": "write"`, `"issues": "write"`, `"contents": "read"`, `"actions": "read"`} {
		if !strings.Contains(string(manifest), permission) {
			t.Errorf("%s is missing", permission)
		}
	}
}
