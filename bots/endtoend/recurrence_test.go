package endtoend

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A cause that comes again in another log is told as such, by each of the ways to ask, and counted once for each log; what was told elsewhere
// is not.
func TestCausesComeAgain(t *testing.T) {
	t.Parallel()
	s, g := newSlack(t), newGitHub(t)
	p := start(t, t.TempDir(), append(s.settings(), g.asApp()...)...)
	g.aim(p)
	log, signature := failingLog(t)
	another := func(n int) string { return fmt.Sprintf("run %d\n", n) + strings.Repeat("\n", n) + log }
	const again = "This is the 2nd time since"

	for n := 1; n <= 2; n++ {
		g.open(n, "ann", "```\n"+another(n)+"\n```")
		g.deliver("issues", guid(), g.payload(n, "opened", nil))
		eventually(t, "a comment", p, func() bool { return len(g.ours(n)) == 1 })
		settled(t, p) // the cause is remembered after the comment
		text := g.ours(n)[0].Body
		if strings.Contains(text, again) != (n == 2) || n == 2 && !strings.Contains(text, "Earlier: #1\n") {
			t.Errorf("issue %d: %s", n, text)
		}
	}
	g.deliver("issues", guid(), g.payload(2, "edited", nil))
	settled(t, p)
	if text := g.ours(2)[0].Body; !strings.Contains(text, again) {
		t.Errorf("asked again, it says %s", text)
	}

	for n := 1; n <= 2; n++ {
		data, _ := json.Marshal(map[string]any{"type": "event_callback", "event_id": fmt.Sprint("Ev", n), "team_id": "T1", "event": map[string]any{
			"type": "app_mention", "channel": "C1", "user": "U1", "ts": fmt.Sprint("1699.", n), "text": "<@UBOT> " + another(n)}})
		before := len(s.in("C1"))
		s.request(p, "/slack/events", "application/json", data, time.Now())
		eventually(t, "an answer", p, func() bool { return len(s.in("C1")) == before+1 })
		settled(t, p)
		if m := s.in("C1")[before]; strings.Contains(string(m.Blocks), again) != (n == 2) {
			t.Errorf("message %d: %s", n, m.Blocks)
		}
	}
	_, _, at, _ := s.slash(p, another(3)) // which only one person sees
	eventually(t, "an answer", p, func() bool { return len(s.in(at)) == 1 })
	settled(t, p)
	if m := s.in(at)[0]; strings.Contains(string(m.Blocks), again) {
		t.Errorf("a private answer tells of others: %s", m.Blocks)
	}

	for _, c := range []struct {
		query string
		n     int
		want  bool
	}{{"?keep=false", 1, false}, {"", 2, false}, {"", 2, false}, {"", 3, true}, {"?keep=false", 4, false}} {
		response, err := http.Post(p.address+"/v1/diagnose"+c.query, "text/plain", strings.NewReader(another(c.n)))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if strings.Contains(string(text), again) != c.want || !strings.Contains(string(text), signature) {
			t.Errorf("posted log %d%s: %s", c.n, c.query, text)
		}
	}
	_, page := p.get("/metrics")
	if want := fmt.Sprintf(`triage_causes_total{node="",signature=%q} 7`, signature); !strings.Contains(page, want) {
		t.Errorf("%s is not among the metrics: %s", want, page[strings.Index(page, "triage_causes_total"):][:400])
	}
}
