package endtoend

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// rounds is how often each crash is tried; TRIAGE_CRASH_ROUNDS asks for more.
func rounds() int {
	n, err := strconv.Atoi(os.Getenv("TRIAGE_CRASH_ROUNDS"))
	if err != nil {
		return 1
	}
	return n
}

// Killed at any point, the bot leaves exactly one comment once it runs again. What was not acknowledged is asked for from GitHub.
func TestKilledAtNamedPoints(t *testing.T) {
	for _, point := range []string{"received", "stored", "taken", "fetched", "diagnosed", "before-post", "after-post", "handled"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			for round := range rounds() {
				g := newGitHub(t)
				data := t.TempDir()
				settings := append(g.asApp(), door(t))
				crashing := append(slices.Clone(settings), "TRIAGE_CRASH_AT="+point)
				p := start(t, data, crashing...)
				g.aim(p)
				g.open(1, "ann", body(t))
				// From "taken" on the job is stored, but the kill can still be faster than the acknowledgement: 0 is no answer.
				code := g.deliver("issues", guid(), g.payload(1, "opened", nil))
				if code != http.StatusOK && code != 0 {
					t.Fatalf("round %d: the delivery was answered with %d", round, code)
				}
				p.died()
				// A second crash at the same point, when it comes by there again.
				p = start(t, data, crashing...)
				p.died()
				p = start(t, data, settings...)
				eventually(t, "a comment after "+point, p, func() bool { return len(g.ours(1)) >= 1 })
				settled(t, p)
				if n := len(g.ours(1)); n != 1 {
					t.Fatalf("round %d: %d comments after a kill at %s", round, n, point)
				}
				p.kill()
			}
		})
	}
}

// Killed at random moments again and again, while issues come in: each has one comment in the end.
func TestKilledAgainAndAgain(t *testing.T) {
	g := newGitHub(t)
	data := t.TempDir()
	settings := append(g.asApp(), door(t))
	const issues = 12
	next := 0
	for round := range 4 * rounds() {
		p := start(t, data, settings...)
		g.aim(p)
		for range 3 {
			if next < issues {
				next++
				g.open(next, "ann", body(t))
				go g.deliver("issues", guid(), g.payload(next, "opened", nil))
			}
		}
		time.Sleep(time.Duration(5+37*round%90) * time.Millisecond)
		p.kill()
	}
	p := start(t, data, settings...)
	for n := 1; n <= issues; n++ {
		eventually(t, fmt.Sprintf("a comment on issue %d", n), p, func() bool { return len(g.ours(n)) >= 1 })
	}
	settled(t, p)
	for n := 1; n <= issues; n++ {
		if got := len(g.ours(n)); got != 1 {
			t.Errorf("issue %d has %d comments", n, got)
		}
	}
}

func TestStopsGracefully(t *testing.T) {
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", body(t))
	slow := make(chan struct{})
	g.fail("^GET /repos/o/r/issues/1$", true, func(w http.ResponseWriter) {
		close(slow)
		time.Sleep(time.Second)
		w.WriteHeader(404)
	})
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	<-slow
	if took := p.stop(); took > 25*time.Second {
		t.Errorf("stopping took %v", took)
	}
	if n := len(g.ours(1)); n != 1 {
		t.Errorf("what had begun was not ended: %d comments\n%s", n, p.logged())
	}
}

// A worker that was too slow to keep its lease posts at the same moment as the one that took over: one comment stays.
func TestCommentsThatMeet(t *testing.T) {
	t.Parallel()
	g := newGitHub(t)
	p := start(t, t.TempDir(), g.asApp()...)
	g.aim(p)
	g.open(1, "ann", body(t))
	g.fail("^POST /repos/o/r/issues/1/comments$", true, func(w http.ResponseWriter) {
		g.mu.Lock()
		defer g.mu.Unlock()
		mine := g.comments[len(g.comments)-1]
		other := *mine
		g.lastID++
		mine.ID = g.lastID // the other was first
		g.comments = append(g.comments[:len(g.comments)-1], &other, mine)
		answer(w, http.StatusCreated, mine)
	})
	g.deliver("issues", guid(), g.payload(1, "opened", nil))
	var second int64
	eventually(t, "the second comment is removed", p, func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		second = g.lastID
		return g.asked["DELETE /repos/o/r/issues/comments/"+fmt.Sprint(second)] == 1
	})
	settled(t, p)
	if ours := g.ours(1); len(ours) != 1 || ours[0].ID == second {
		t.Errorf("the comments are %v", ours)
	}
	g.unused()
}
