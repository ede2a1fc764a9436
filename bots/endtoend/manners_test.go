package endtoend

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// counted tells how often something ended or was dropped for a reason.
func counted(p *process, reason string) bool {
	_, page := p.get("/metrics")
	return strings.Contains(page, fmt.Sprintf("triage_dropped_total{reason=%q,via=\"github\"}", reason))
}

// noDead fails the test when something was given up.
func noDead(t *testing.T, p *process) {
	t.Helper()
	if _, page := p.get("/metrics"); !strings.Contains(page, "\ntriage_dead_letters 0\n") {
		t.Errorf("something was given up:\n%s", p.logged())
	}
}

// ask sends a command and waits until it was looked at.
func (g *fakeGitHub) ask(p *process, number int, author, association, text string) *comment {
	c := g.say(number, author, association, text)
	g.deliver("issue_comment", guid(), g.payload(number, "created", c))
	settled(g.t, p)
	return c
}

func status(code int, message string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) { refuse(w, code, message) }
}

// What cannot be read may say that nothing is wanted.
func TestOptOutFailsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		fault func(w http.ResponseWriter)
		said  string // to who asks
	}{
		"no permission": {"", status(403, "Resource not accessible by integration"), "permission to read contents"},
		"blocked":       {"", status(451, "Repository access blocked"), "does not let me read it"},
		"syntax":        {"enabled: [", nil, ".github/triage.yml:2:1"},
		"unknown key":   {"enable: no", nil, "did you mean"},
		"a folder": {"", func(w http.ResponseWriter) {
			answer(w, 200, []map[string]any{{"type": "file", "name": "x", "path": "x"}})
		}, "it is no file"},
		"too large": {"", func(w http.ResponseWriter) {
			answer(w, 200, map[string]any{"type": "file", "encoding": "none", "content": "", "size": 2 << 20})
		}, "larger than a megabyte"},
		"a link": {"", func(w http.ResponseWriter) { answer(w, 200, map[string]any{"type": "symlink", "target": "x"}) }, "it is no file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitHub(t)
			if c.file != "" {
				g.files[".github/triage.yml"] = c.file
			}
			p := start(t, t.TempDir(), g.asApp()...)
			g.aim(p)
			g.open(1, "ann", body(t))
			if c.fault != nil {
				g.fail("^GET /repos/o/r/contents/.github/triage.yml$", false, c.fault)
				g.fail("^GET /repos/o/r/contents/.github/triage.yml$", false, c.fault)
			}
			g.deliver("issues", guid(), g.payload(1, "opened", nil))
			settled(t, p)
			if len(g.ours(1)) != 0 || !counted(p, "settings unreadable") {
				t.Fatalf("unasked: %d comments, or not counted", len(g.ours(1)))
			}
			g.ask(p, 1, "ann", "NONE", "/triage")
			if ours := g.ours(1); len(ours) != 1 || !strings.Contains(ours[0].Body, c.said) || !strings.Contains(ours[0].Body, "comment `/triage` again") {
				t.Fatalf("asked: %v, %q expected", ours, c.said)
			}
			noDead(t, p)
			// Mended, the same question is answered at once.
			g.mu.Lock()
			delete(g.files, ".github/triage.yml")
			g.mu.Unlock()
			g.ask(p, 1, "ann", "NONE", "/triage")
			if ours := g.ours(1); len(ours) != 1 || !strings.Contains(ours[0].Body, "**Confirmed**") && !strings.Contains(ours[0].Body, "**Likely**") {
				t.Errorf("mended: %v", ours)
			}
		})
	}
}

// What is switched off is off at once, and GitHub's failure to tell is none of the repository's consent.
func TestOptOutHoldsAtOnce(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", body(t))
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
	g.mu.Lock()
	g.files[".github/triage.yml"] = "enabled: false"
	g.mu.Unlock()
	g.open(2, "ann", body(t))
	g.fail("^GET /repos/o/r/contents/.github/triage.yml$", false, status(502, "Unicorn"))
	g.deliver("issues", guid(), g.payload(2, "opened", nil))
	settled(t, p)
	if n := len(g.ours(2)); n != 0 {
		t.Errorf("%d comments", n)
	}
	noDead(t, p)
}

// An issue that is no longer there for us ends quietly: counted, not tried again, not kept among the dead.
func TestGoneIssuesEndQuietly(t *testing.T) {
	moved := func(w http.ResponseWriter) { w.WriteHeader(301); fmt.Fprint(w, `{"message":"Moved Permanently"}`) }
	for name, c := range map[string]struct {
		match  string
		do     func(w http.ResponseWriter)
		reason string
	}{
		"deleted":               {"^GET /repos/o/r/issues/1$", status(410, "This issue was deleted"), "deleted"},
		"not there":             {"^GET /repos/o/r/issues/1$", status(404, "Not Found"), "deleted"},
		"deleted meanwhile":     {"^POST /repos/o/r/issues/1/comments$", status(410, "This issue was deleted"), "deleted"},
		"not there meanwhile":   {"^POST /repos/o/r/issues/1/comments$", status(404, "Not Found"), "deleted"},
		"locked":                {"^POST /repos/o/r/issues/1/comments$", status(403, "Unable to create comment because issue is locked."), "locked"},
		"archived":              {"^POST /repos/o/r/issues/1/comments$", status(403, "Repository was archived so is read-only."), "archived"},
		"transferred":           {"^GET /repos/o/r/issues/1$", moved, "transferred"},
		"transferred meanwhile": {"^POST /repos/o/r/issues/1/comments$", moved, "transferred"},
		"transferred, followed": {"^GET /repos/o/r/issues/1$", func(w http.ResponseWriter) {
			w.Header().Set("Location", "/repos/o/r/issues/9")
			w.WriteHeader(301)
		}, "transferred"},
		"uninstalled": {"^POST /app/installations/99/access_tokens$", status(404, "Not Found"), "not installed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitHub(t)
			p := start(t, t.TempDir(), g.asApp()...)
			g.aim(p)
			g.open(1, "ann", body(t))
			g.open(9, "ann", body(t))
			g.fail(c.match, false, c.do)
			g.deliver("issues", guid(), g.payload(1, "opened", nil))
			eventually(t, "an end", p, func() bool { return counted(p, c.reason) })
			settled(t, p)
			g.unused()
			if n := len(g.ours(1)) + len(g.ours(9)); n != 0 {
				t.Errorf("%d comments", n)
			}
			if _, page := p.get("/metrics"); strings.Contains(page, "stage=\"try\"") {
				t.Error("it was tried again")
			}
			noDead(t, p)
		})
	}
}

// Nothing is said unasked where a conversation is locked.
func TestLockedIssueIsLeftAlone(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", body(t))
	g.mu.Lock()
	g.issues[1].Locked = true
	g.mu.Unlock()
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	settled(t, p)
	if !counted(p, "locked") || slices.Contains(g.since(time.Time{}), "POST /repos/o/r/issues/1/comments") {
		t.Error("a comment was tried on a locked issue")
	}
}

// One worker is told to wait, and all wait.
func TestPauseIsShared(t *testing.T) {
	reset := func(remaining string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Remaining", remaining)
			w.Header().Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(2*time.Second).Unix()))
			refuse(w, 403, "API rate limit exceeded for installation")
		}
	}
	for name, do := range map[string]func(w http.ResponseWriter){
		"retry-after on 403": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "2")
			refuse(w, 403, "You have exceeded a secondary rate limit")
		},
		"retry-after on 429": func(w http.ResponseWriter) { w.Header().Set("Retry-After", "2"); w.WriteHeader(429) },
		"reset":              reset("0"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitHub(t)
			data := t.TempDir()
			settings := append(g.asApp(), door(t))
			p := start(t, data, settings...)
			g.aim(p)
			const issues = 6
			for n := 1; n <= issues; n++ {
				g.open(n, "ann", body(t))
			}
			told := make(chan time.Time, 1)
			g.fail("^POST /repos/o/r/issues/1/comments$", false, func(w http.ResponseWriter) { do(w); told <- time.Now() })
			g.deliver("issues", guid(), g.payload(1, "opened", nil))
			at := <-told
			time.Sleep(100 * time.Millisecond)
			for n := 2; n <= issues; n++ {
				g.deliver("issues", guid(), g.payload(n, "opened", nil))
			}
			// A restart does not forget it.
			p.kill()
			p = start(t, data, settings...)
			g.aim(p)
			for n := 1; n <= issues; n++ {
				eventually(t, "a comment", p, func() bool { return len(g.ours(n)) == 1 })
			}
			g.mu.Lock()
			defer g.mu.Unlock()
			for _, r := range g.order {
				if !strings.Contains(r.line, " /app/") && r.at.After(at.Add(50*time.Millisecond)) && r.at.Before(at.Add(900*time.Millisecond)) {
					t.Errorf("%s %v after the demand to wait", r.line, r.at.Sub(at))
				}
			}
		})
	}
}

// A comment that somebody took away comes back only for a question that was asked after it.
func TestRemovedCommentStaysAway(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", body(t))
	g.ask(p, 1, "ann", "NONE", "/triage")
	ours := g.ours(1)
	if len(ours) != 1 {
		t.Fatal("no answer")
	}
	g.mu.Lock()
	g.deleteComment(http.ResponseWriter(discard{}), nil, []string{"", fmt.Sprint(ours[0].ID)}, nil)
	g.mu.Unlock()
	for i := range 2 {
		g.open(1, "ann", fmt.Sprintf("Edit %d.\n%s", i, body(t)))
		g.deliver("issues", guid(), g.payload(1, "edited", nil))
		settled(t, p)
	}
	if n := len(g.ours(1)); n != 0 {
		t.Errorf("%d comments after it was removed", n)
	}
	g.ask(p, 1, "ann", "NONE", "/triage")
	if n := len(g.ours(1)); n != 1 {
		t.Errorf("%d comments after a new question", n)
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

// An owner may ask about an issue that a bot opened; the bot's words alone are not diagnosed.
func TestOwnerAsksOnBotsIssue(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	_, signature := failingLog(t)
	g.open(1, "nightly[bot]", body(t))
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	g.ask(p, 1, "mallory", "NONE", "/triage")
	if n := len(g.ours(1)); n != 0 {
		t.Fatalf("%d comments that nobody who may asked for", n)
	}
	asked := g.ask(p, 1, "olga", "OWNER", "/triage")
	if ours := g.ours(1); len(ours) != 1 || !strings.Contains(ours[0].Body, signature) || g.reaction(asked, "eyes") != 1 {
		t.Errorf("the owner was not answered: %v", ours)
	}
}

// The receipt comes before anything that takes time, and does not wait for the pause between two looks.
func TestReceiptComesFirst(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), append(g.asApp(), "TRIAGE_DEBOUNCE=3s")...)
	g.aim(p)
	g.open(1, "ann", body(t))
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
	began := time.Now()
	g.fail("^GET /repos/o/r/contents/.github/triage.yml$", true, func(w http.ResponseWriter) { time.Sleep(time.Second); refuse(w, 404, "Not Found") })
	asked := g.say(1, "ann", "NONE", "/triage transformer_engine=1.12.0")
	g.deliver("issue_comment", guid(), g.payload(1, "created", asked))
	eventually(t, "a receipt", p, func() bool { return g.reaction(asked, "eyes") == 1 })
	if lines := g.since(began); lines[0] != fmt.Sprintf("POST /repos/o/r/issues/comments/%d/reactions", asked.ID) {
		t.Errorf("before the receipt came %v", lines)
	}
	eventually(t, "an answer", p, func() bool { return g.ours(1)[0].edits == 1 })
}

// Off is off, for good; on asks again. What the author of an issue may not undo is what an owner switched off.
func TestOffAndOn(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	_, signature := failingLog(t)
	g.open(1, "ann", body(t))
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	eventually(t, "a comment", p, func() bool { return len(g.ours(1)) == 1 })
	g.ask(p, 1, "mallory", "NONE", "/triage off")
	if g.ours(1)[0].minimized != "" {
		t.Fatal("a stranger switched it off")
	}
	off := g.ask(p, 1, "olga", "OWNER", "/triage off")
	if g.reaction(off, "eyes") != 1 || g.ours(1)[0].minimized != "OUTDATED" {
		t.Errorf("switched off: %d eyes, minimised as %q\n%s", g.reaction(off, "eyes"), g.ours(1)[0].minimized, p.logged())
	}
	before := g.ours(1)[0]
	g.open(1, "ann", "Something else now.")
	g.deliver("issues", guid(), g.payload(1, "edited", nil))
	g.ask(p, 1, "ann", "NONE", "/triage")
	if ours := g.ours(1); len(ours) != 1 || ours[0].edits != before.edits || ours[0].minimized != "OUTDATED" {
		t.Errorf("it spoke after it was switched off: %v", ours)
	}
	g.open(1, "ann", body(t))
	g.ask(p, 1, "olga", "OWNER", "/triage on")
	if ours := g.ours(1); len(ours) != 1 || !strings.Contains(ours[0].Body, signature) || ours[0].minimized != "" {
		t.Errorf("switched on: %v", ours)
	}
	// An author may switch it off and on as well.
	g.open(2, "ann", body(t))
	g.ask(p, 2, "ann", "NONE", "/triage off")
	g.deliver("issues", guid(), g.payload(2, "opened", nil))
	settled(t, p)
	if n := len(g.ours(2)); n != 0 {
		t.Errorf("%d comments", n)
	}
	g.ask(p, 2, "ann", "NONE", "/triage")
	if n := len(g.ours(2)); n != 1 {
		t.Errorf("%d comments", n)
	}
}

// A comment about what an issue no longer says is minimised, and comes forth when it says something again.
func TestOutdatedCommentIsMinimised(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	for i, edit := range []struct{ body, minimized string }{{body(t), ""}, {"Solved.", "OUTDATED"}, {"Solved!", "OUTDATED"}, {body(t), ""}} {
		g.open(1, "ann", edit.body)
		g.deliver("issues", guid(), g.payload(1, "edited", nil))
		settled(t, p)
		if ours := g.ours(1); len(ours) != 1 || ours[0].minimized != edit.minimized {
			t.Errorf("edit %d: %d comments, %v", i, len(ours), ours)
		}
	}
}

// Signatures that speak where no other does name a cause, and so answer unasked.
func TestGenericCausesAnswerUnasked(t *testing.T) {
	t.Parallel()
	logs := map[string]string{
		"device-assert": "Traceback (most recent call last):\n  File \"/home/a/train.py\", line 9, in <module>\n    loss.backward()\nRuntimeError: CUDA error: device-side assert triggered\n",
		"cuda-illegal-address": "Traceback (most recent call last):\n  File \"/home/a/train.py\", line 9, in <module>\n    loss.backward()\n" +
			"RuntimeError: CUDA error: an illegal memory access was encountered\n",
		"sdpa-no-kernel": "Traceback (most recent call last):\n  File \"/home/a/train.py\", line 9, in <module>\n    y = F.scaled_dot_product_attention(q, k, v)\n" +
			"RuntimeError: No available kernel. Aborting execution.\n",
		"te-no-backend": "Traceback (most recent call last):\n  File \"/home/a/train.py\", line 9, in <module>\n    y = attention(q, k, v)\n" +
			"  File \"/usr/lib/python3/site-packages/transformer_engine/pytorch/attention.py\", line 8000, in forward\n" +
			"Exception: No dot product attention support for the provided inputs!\n",
	}
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	n := 0
	for id, log := range logs {
		n++
		g.open(n, "ann", "```\n"+log+"```\n")
		g.deliver("issues", guid(), g.payload(n, "opened", nil))
		settled(t, p)
		if ours := g.ours(n); len(ours) != 1 || !strings.Contains(ours[0].Body, id) {
			t.Errorf("%s: %v", id, ours)
		}
	}
	g.open(n+1, "ann", "```\nTraceback (most recent call last):\n  File \"/home/a/train.py\", line 9, in <module>\n    f()\nMyOwnError: it is Tuesday\n```\n")
	g.deliver("issues", guid(), g.payload(n+1, "opened", nil))
	settled(t, p)
	if ours := g.ours(n + 1); len(ours) != 0 {
		t.Errorf("an exception of which nothing is known was answered: %v", ours)
	}
}

// workflowRun is the delivery about a failed run.
func workflowRun(conclusion string) []byte {
	return []byte(`{"action":"completed","workflow_run":{"id":5,"name":"GPU CI","conclusion":"` + conclusion + `","head_sha":"` + strings.Repeat("ab", 20) +
		`","pull_requests":[]},"repository":{"full_name":"o/r"},"installation":{"id":99},"sender":{"login":"ann","type":"User"}}`)
}

// A failed workflow gets a check run with annotations at the repository's own lines, and no comment unless that is wished.
func TestCheckRun(t *testing.T) {
	t.Parallel()
	log := "2026-11-20T10:00:05.0000000Z Traceback (most recent call last):\n" +
		"2026-11-20T10:00:05.0000000Z   File \"/home/runner/work/r/r/examples/train.py\", line 20, in <module>\n" +
		"2026-11-20T10:00:05.0000000Z     main()\n" +
		"2026-11-20T10:00:05.0000000Z   File \"/home/runner/work/r/r/nano/train.py\", line 40, in main\n" +
		"2026-11-20T10:00:05.0000000Z     model.to(\"cuda\")\n" +
		"2026-11-20T10:00:05.0000000Z   File \"/opt/python/lib/python3.11/site-packages/torch/cuda/__init__.py\", line 293, in _lazy_init\n" +
		"2026-11-20T10:00:05.0000000Z     raise AssertionError(\"Torch not compiled with CUDA enabled\")\n" +
		"2026-11-20T10:00:05.0000000Z AssertionError: Torch not compiled with CUDA enabled\n"
	g := newGitHub(t)
	g.jobLog, g.tree = log, []string{"README.md", "examples/train.py", "nano/train.py"}
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(7, "ann", "A change.")
	g.mu.Lock()
	g.issues[7].Pull = map[string]any{"url": "x"}
	g.mu.Unlock()
	g.deliver("workflow_run", guid(), workflowRun("success"))
	for range 2 { // the second look finds the check run of the first
		g.deliver("workflow_run", guid(), workflowRun("failure"))
		settled(t, p)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.checks) != 1 {
		t.Fatalf("%d check runs\n%s", len(g.checks), p.logged())
	}
	c := g.checks[0]
	if c.Name != "triage GPU CI" || c.Conclusion != "neutral" || !strings.Contains(c.Output.Summary, "torch-without-cuda") {
		t.Errorf("the check run is %+v", c)
	}
	if a := c.annotations; len(a) != 1 || a[0].Path != "nano/train.py" || a[0].Start != 40 || a[0].Level != "failure" || !strings.Contains(a[0].Message, "Fix: ") {
		t.Errorf("annotations %+v", a)
	}
	for _, made := range g.comments {
		t.Errorf("a comment that nobody wished: %s", made.Body)
	}
}

// Where pytest tells the failure, the annotation is at the deepest of its places that is the repository's.
func TestCheckRunOfPytest(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	g.tree = []string{"tests/test_train.py", "nano/train.py"}
	stamp := "2026-11-20T10:00:09.0000000Z "
	for _, line := range []string{"________ test_other ________", "", "tests/test_other.py:3: ", "E       assert 1 == 2", "________ test_train ________", "",
		"    def test_train():", ">       train.step(1)", "", "tests/test_train.py:12: ", "_ _ _ _ _ _", "nano/train.py:40: in step", "    model.to(\"cuda\")",
		"/opt/python/lib/python3.11/site-packages/torch/cuda/__init__.py:293: in _lazy_init", "    raise AssertionError(\"Torch not compiled with CUDA enabled\")",
		"E       AssertionError: Torch not compiled with CUDA enabled", "", "/opt/python/lib/python3.11/site-packages/torch/cuda/__init__.py:293: AssertionError",
		"________ test_last ________", "tests/test_train.py:77: in test_last"} {
		g.jobLog += stamp + line + "\n"
	}
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.deliver("workflow_run", guid(), workflowRun("failure"))
	settled(t, p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.checks) != 1 || len(g.checks[0].annotations) == 0 || g.checks[0].annotations[0].Path != "nano/train.py" || g.checks[0].annotations[0].Start != 40 {
		t.Errorf("%d check runs\n%s", len(g.checks), p.logged())
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
	g.deliver("workflow_run", guid(), workflowRun("failure"))
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
