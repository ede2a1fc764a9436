package endtoend

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// counted tells how often something ended or was dropped for a reason.
func counted(p *process, reason string) int {
	_, page := p.get("/metrics")
	_, rest, _ := strings.Cut(page, fmt.Sprintf("\ntriage_dropped_total{reason=%q,via=\"github\"} ", reason))
	number, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(number)
	return n
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
	t.Parallel()
	const file = ".github/triage.yml"
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	for i, c := range []struct {
		file  string
		fault func(w http.ResponseWriter)
		said  string // to who asks
	}{
		{"", status(403, "Resource not accessible by integration"), "permission to read contents"},
		{"", status(451, "Repository access blocked"), "does not let me read it"},
		{"enabled: [", nil, ".github/triage.yml:2:1"},
		{"enable: no", nil, "did you mean"},
		{"", func(w http.ResponseWriter) {
			answer(w, 200, []map[string]any{{"type": "file", "name": "x", "path": "x"}})
		}, "it is no file"},
		{"", func(w http.ResponseWriter) {
			answer(w, 200, map[string]any{"type": "file", "encoding": "none", "content": "", "size": 2 << 20})
		}, "larger than a megabyte"},
		{"", func(w http.ResponseWriter) { answer(w, 200, map[string]any{"type": "symlink", "target": "x"}) }, "it is no file"},
	} {
		n := i + 1
		g.put(file, c.file)
		g.open(n, "ann", body(t))
		for range 2 {
			if c.fault != nil {
				g.fail("^GET /repos/o/r/contents/"+file+"$", false, c.fault)
			}
		}
		g.deliver("issues", guid(), g.payload(n, "opened", nil))
		settled(t, p)
		if len(g.ours(n)) != 0 || counted(p, "settings unreadable") != n {
			t.Errorf("%q, unasked: %d comments, or not counted", c.said, len(g.ours(n)))
		}
		g.ask(p, n, "ann", "NONE", "/triage")
		if ours := g.ours(n); len(ours) != 1 || !strings.Contains(ours[0].Body, c.said) || !strings.Contains(ours[0].Body, "comment `/triage` again") {
			t.Errorf("%q, asked: %v", c.said, ours)
		}
		// Mended, the same question is answered at once.
		g.put(file, "")
		g.ask(p, n, "ann", "NONE", "/triage")
		if ours := g.ours(n); len(ours) != 1 || !strings.Contains(ours[0].Body, "**Likely**") {
			t.Errorf("%q, mended: %v", c.said, ours)
		}
	}
	g.unused()
	noDead(t, p)
}

// One process, and an issue for each of them.
func TestManners(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	for _, c := range []struct {
		name string
		test func(t *testing.T, g *fakeGitHub, p *process)
	}{{"removed", removedStaysAway}, {"bot's issue", ownerAsksOnBotsIssue}, {"off and on", offAndOn}, {"outdated", outdatedIsMinimised},
		{"generic", genericAnswersUnasked}, {"opt-out", optOutHoldsAtOnce}, {"renamed", renamedIsFollowed}} {
		t.Run(c.name, func(t *testing.T) { c.test(t, g, p) })
	}
}

// What is switched off is off at once, and GitHub's failure to tell is none of the repository's consent.
func optOutHoldsAtOnce(t *testing.T, g *fakeGitHub, p *process) {
	n := g.unusedNumber()
	g.open(n, "ann", body(t))
	g.deliver("issues", guid(), g.payload(n, "opened", nil))
	eventually(t, "a comment", p, func() bool { return len(g.ours(n)) == 1 })
	g.put(".github/triage.yml", "enabled: false")
	m := g.unusedNumber()
	g.open(m, "ann", body(t))
	g.fail("^GET /repos/o/r/contents/.github/triage.yml$", false, status(502, "Unicorn"))
	g.deliver("issues", guid(), g.payload(m, "opened", nil))
	settled(t, p)
	if many := len(g.ours(m)); many != 0 {
		t.Errorf("%d comments", many)
	}
	noDead(t, p)
}

// An issue that is no longer there for us ends quietly: counted, not tried again, not kept among the dead.
func TestGoneIssuesEndQuietly(t *testing.T) {
	t.Parallel()
	moved := func(w http.ResponseWriter) { w.WriteHeader(301); fmt.Fprint(w, `{"message":"Moved Permanently"}`) }
	const get, post = "^GET /repos/o/r/issues/%d$", "^POST /repos/o/r/issues/%d/comments$"
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(99, "ann", body(t))
	for i, c := range []struct {
		match  string
		do     func(w http.ResponseWriter)
		reason string
		times  int // that this reason ended something by then
	}{
		{get, status(410, "This issue was deleted"), "deleted", 1},
		{get, status(404, "Not Found"), "deleted", 2},
		{post, status(410, "This issue was deleted"), "deleted", 3},
		{post, status(404, "Not Found"), "deleted", 4},
		{post, status(403, "Unable to create comment because issue is locked."), "locked", 1},
		{"", nil, "locked", 2}, // GitHub says so before, and nothing is tried
		{post, status(403, "Repository was archived so is read-only."), "archived", 1},
		{get, moved, "transferred", 1},
		{post, moved, "transferred", 2},
		{get, func(w http.ResponseWriter) { w.Header().Set("Location", "/repos/o/r/issues/99"); w.WriteHeader(301) }, "transferred", 3},
		{"^POST /app/installations/99/access_tokens$", status(404, "Not Found"), "not installed", 1},
	} {
		n := i + 1
		g.open(n, "ann", body(t))
		switch {
		case c.match == "":
			g.mu.Lock()
			g.issues[n].Locked = true
			g.mu.Unlock()
		case c.reason == "not installed":
			g.expireTokens()
			g.fail(c.match, false, c.do)
		default:
			g.fail(fmt.Sprintf(c.match, n), false, c.do)
		}
		g.deliver("issues", guid(), g.payload(n, "opened", nil))
		eventually(t, fmt.Sprintf("case %d, the end %q", n, c.reason), p, func() bool { return counted(p, c.reason) == c.times })
		if len(g.ours(n)) != 0 || c.match == "" && slices.Contains(g.since(time.Time{}), fmt.Sprintf("POST /repos/o/r/issues/%d/comments", n)) {
			t.Errorf("case %d: a comment, or a try", n)
		}
	}
	settled(t, p)
	g.unused()
	if n := len(g.ours(99)); n != 0 {
		t.Errorf("%d comments where an issue was moved to", n)
	}
	if _, page := p.get("/metrics"); strings.Contains(page, "stage=\"try\"") {
		t.Error("something was tried again")
	}
	noDead(t, p)
}

// A repository that got another name is answered under that.
func renamedIsFollowed(t *testing.T, g *fakeGitHub, p *process) {
	n := g.unusedNumber()
	g.put(".github/triage.yml", "")
	g.open(n, "ann", body(t))
	before := g.payload(n, "opened", nil)
	g.mu.Lock()
	g.name = "o/new"
	g.mu.Unlock()
	g.deliver("issues", guid(), before)
	eventually(t, "a comment", p, func() bool { return len(g.ours(n)) == 1 })
	settled(t, p)
	if many := len(g.ours(n)); many != 1 {
		t.Errorf("%d comments", many)
	}
}

// One worker is told to wait, and all wait.
func TestPauseIsShared(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for as long as GitHub demands")
	}
	t.Parallel()
	g := newGitHub(t)
	data := t.TempDir()
	settings := append(g.asApp(), door(t))
	p := start(t, data, settings...)
	g.aim(p)
	demands := []func(w http.ResponseWriter){
		func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(2*time.Second).Unix()))
			refuse(w, 403, "API rate limit exceeded for installation")
		},
		func(w http.ResponseWriter) { w.Header().Set("Retry-After", "1"); w.WriteHeader(429) },
		func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "2")
			refuse(w, 403, "You have exceeded a secondary rate limit")
		},
	}
	const issues = 5 // at each demand
	for i, do := range demands {
		n := i * issues
		told := make(chan time.Time, 1)
		g.fail(fmt.Sprintf("^POST /repos/o/r/issues/%d/comments$", n+1), false, func(w http.ResponseWriter) { do(w); told <- time.Now() })
		for k := 1; k <= issues; k++ {
			g.open(n+k, "ann", body(t))
		}
		g.deliver("issues", guid(), g.payload(n+1, "opened", nil))
		at := <-told
		time.Sleep(100 * time.Millisecond)
		for k := 2; k <= issues; k++ {
			g.deliver("issues", guid(), g.payload(n+k, "opened", nil))
		}
		if i == len(demands)-1 { // a restart does not forget it
			p.kill()
			p = start(t, data, settings...)
		}
		for k := 1; k <= issues; k++ {
			eventually(t, "a comment", p, func() bool { return len(g.ours(n+k)) == 1 })
		}
		g.mu.Lock()
		for _, r := range g.order {
			if !strings.Contains(r.line, " /app/") && r.at.After(at.Add(50*time.Millisecond)) && r.at.Before(at.Add(900*time.Millisecond)) {
				t.Errorf("demand %d: %s %v after it", i, r.line, r.at.Sub(at))
			}
		}
		g.mu.Unlock()
	}
}

// A comment that somebody took away comes back only for a question that was asked after it.
func removedStaysAway(t *testing.T, g *fakeGitHub, p *process) {
	n := g.unusedNumber()
	g.open(n, "ann", body(t))
	g.ask(p, n, "ann", "NONE", "/triage")
	ours := g.ours(n)
	if len(ours) != 1 {
		t.Fatal("no answer")
	}
	g.remove(ours[0].ID)
	for i := range 2 {
		g.open(n, "ann", fmt.Sprintf("Edit %d.\n%s", i, body(t)))
		g.deliver("issues", guid(), g.payload(n, "edited", nil))
		settled(t, p)
	}
	if many := len(g.ours(n)); many != 0 {
		t.Errorf("%d comments after it was removed", many)
	}
	g.ask(p, n, "ann", "NONE", "/triage")
	if many := len(g.ours(n)); many != 1 {
		t.Errorf("%d comments after a new question", many)
	}
}

// An owner may ask about an issue that a bot opened; the bot's words alone are not diagnosed.
func ownerAsksOnBotsIssue(t *testing.T, g *fakeGitHub, p *process) {
	n := g.unusedNumber()
	_, signature := failingLog(t)
	g.open(n, "nightly[bot]", body(t))
	g.deliver("issues", guid(), g.payload(n, "opened", nil))
	g.ask(p, n, "mallory", "NONE", "/triage")
	if many := len(g.ours(n)); many != 0 {
		t.Fatalf("%d comments that nobody who may asked for", many)
	}
	asked := g.ask(p, n, "olga", "OWNER", "/triage")
	if ours := g.ours(n); len(ours) != 1 || !strings.Contains(ours[0].Body, signature) || g.reaction(asked, "eyes") != 1 {
		t.Errorf("the owner was not answered: %v", ours)
	}
}

// The receipt comes before anything that takes time: it waits neither for the pause between two looks, nor for a log that is being read for
// the same issue.
func TestReceiptComesFirst(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), append(g.asApp(), "TRIAGE_DEBOUNCE=1s")...)
	g.aim(p)
	g.open(1, "ann", body(t))
	reading, read := make(chan bool), make(chan bool)
	g.fail("^GET /repos/o/r/contents/.github/triage.yml$", true, func(w http.ResponseWriter) { close(reading); <-read; refuse(w, 404, "Not Found") })
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	<-reading
	began := time.Now()
	asked := g.say(1, "ann", "NONE", "/triage transformer_engine=1.12.0")
	g.deliver("issue_comment", guid(), g.payload(1, "created", asked))
	eventually(t, "a receipt", p, func() bool { return g.reaction(asked, "eyes") == 1 })
	lines := slices.DeleteFunc(g.since(began), func(line string) bool { return line == "GET /app/hook/deliveries" }) // what was lost is looked for at any time
	if len(lines) != 1 || lines[0] != fmt.Sprintf("POST /repos/o/r/issues/comments/%d/reactions", asked.ID) {
		t.Errorf("before the receipt came %v", lines)
	}
	close(read)
	eventually(t, "an answer", p, func() bool { ours := g.ours(1); return len(ours) == 1 && strings.Contains(ours[0].Body, "1.12.0") })
}

// Off is off, for good; on asks again. What the author of an issue may not undo is what an owner switched off.
func offAndOn(t *testing.T, g *fakeGitHub, p *process) {
	n := g.unusedNumber()
	_, signature := failingLog(t)
	g.open(n, "ann", body(t))
	g.deliver("issues", guid(), g.payload(n, "opened", nil))
	eventually(t, "a comment", p, func() bool { return len(g.ours(n)) == 1 })
	g.ask(p, n, "mallory", "NONE", "/triage off")
	if g.ours(n)[0].minimized != "" {
		t.Fatal("a stranger switched it off")
	}
	off := g.ask(p, n, "olga", "OWNER", "/triage off")
	if g.reaction(off, "eyes") != 1 || g.ours(n)[0].minimized != "OUTDATED" {
		t.Errorf("switched off: %d eyes, minimised as %q\n%s", g.reaction(off, "eyes"), g.ours(n)[0].minimized, p.logged())
	}
	before := g.ours(n)[0]
	g.open(n, "ann", "Something else now.")
	g.deliver("issues", guid(), g.payload(n, "edited", nil))
	g.ask(p, n, "ann", "NONE", "/triage")
	if ours := g.ours(n); len(ours) != 1 || ours[0].edits != before.edits || ours[0].minimized != "OUTDATED" {
		t.Errorf("it spoke after it was switched off: %v", ours)
	}
	g.open(n, "ann", body(t))
	g.ask(p, n, "olga", "OWNER", "/triage on")
	if ours := g.ours(n); len(ours) != 1 || !strings.Contains(ours[0].Body, signature) || ours[0].minimized != "" {
		t.Errorf("switched on: %v", ours)
	}
	// An author may switch it off and on as well.
	m := g.unusedNumber()
	g.open(m, "ann", body(t))
	g.ask(p, m, "ann", "NONE", "/triage off")
	g.deliver("issues", guid(), g.payload(m, "opened", nil))
	settled(t, p)
	if many := len(g.ours(m)); many != 0 {
		t.Errorf("%d comments", many)
	}
	g.ask(p, m, "ann", "NONE", "/triage")
	if many := len(g.ours(m)); many != 1 {
		t.Errorf("%d comments", many)
	}
}

// A comment about what an issue no longer says is minimised, and comes forth when it says something again.
func outdatedIsMinimised(t *testing.T, g *fakeGitHub, p *process) {
	n := g.unusedNumber()
	for i, edit := range []struct{ body, minimized string }{{body(t), ""}, {"Solved.", "OUTDATED"}, {"Solved!", "OUTDATED"}, {body(t), ""}} {
		g.open(n, "ann", edit.body)
		g.deliver("issues", guid(), g.payload(n, "edited", nil))
		settled(t, p)
		if ours := g.ours(n); len(ours) != 1 || ours[0].minimized != edit.minimized {
			t.Errorf("edit %d: %d comments, %v", i, len(ours), ours)
		}
	}
}

// Signatures that speak where no other does name a cause, and so answer unasked.
func genericAnswersUnasked(t *testing.T, g *fakeGitHub, p *process) {
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
	for id, log := range logs {
		n := g.unusedNumber()
		g.open(n, "ann", "```\n"+log+"```\n")
		g.deliver("issues", guid(), g.payload(n, "opened", nil))
		settled(t, p)
		if ours := g.ours(n); len(ours) != 1 || !strings.Contains(ours[0].Body, id) {
			t.Errorf("%s: %v", id, ours)
		}
	}
	n := g.unusedNumber()
	g.open(n, "ann", "```\nTraceback (most recent call last):\n  File \"/home/a/train.py\", line 9, in <module>\n    f()\nMyOwnError: it is Tuesday\n```\n")
	g.deliver("issues", guid(), g.payload(n, "opened", nil))
	settled(t, p)
	if ours := g.ours(n); len(ours) != 0 {
		t.Errorf("an exception of which nothing is known was answered: %v", ours)
	}
}
