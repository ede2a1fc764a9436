package endtoend

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// Killed again and again while Slack is slow, before it posts or before it answers, nothing is posted twice: neither what can be looked for
// nor what cannot. What was being sent to response_url at the moment of the kill may be missing there; everything in channels stands there.
func TestSlackOnceWhileSlackIsSlow(t *testing.T) {
	for name, slow := range map[string][2]time.Duration{"before it posts": {400 * time.Millisecond, 0}, "before it answers": {0, 400 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSlack(t)
			s.mu.Lock()
			s.before, s.after = slow[0], slow[1]
			s.mu.Unlock()
			data := t.TempDir()
			settings := append(s.settings(), door(t))
			log, _ := failingLog(t)
			var threads, private []string
			for round := range 3 * rounds() {
				p := start(t, data, settings...)
				for i := range 3 {
					ts := fmt.Sprintf("1699.%03d%d", round, i)
					code, _ := s.interact(p, map[string]any{"type": "message_action", "trigger_id": guid(), "user": map[string]any{"id": "U1"},
						"channel": map[string]any{"id": "C1"}, "message": map[string]any{"ts": ts, "text": log}})
					acknowledged, _, at, _ := s.slash(p, log)
					if code != 200 || acknowledged != 200 {
						t.Fatalf("acknowledged with %d and %d", code, acknowledged)
					}
					threads, private = append(threads, ts), append(private, at)
				}
				time.Sleep(time.Duration(100+150*(round%3)) * time.Millisecond)
				p.kill()
			}
			p := start(t, data, settings...)
			inThread := func(ts string) (n int) {
				for _, m := range s.in("C1") {
					if m.Thread == ts {
						n++
					}
				}
				return n
			}
			for _, ts := range threads {
				eventually(t, "an answer in the thread "+ts, p, func() bool { return inThread(ts) > 0 })
			}
			settled(t, p)
			missing := 0
			for i := range threads {
				if n := inThread(threads[i]); n != 1 {
					t.Errorf("%d answers in the thread %s", n, threads[i])
				}
				switch n := len(s.in(private[i])); n {
				case 0:
					missing++
				case 1:
				default:
					t.Errorf("%d answers at %s", n, private[i])
				}
			}
			t.Logf("of %d answers in threads and %d private ones, %d of the private ones were cut off", len(threads), len(private), missing)
		})
	}
}

// In a thread of more replies than Slack shows at once, an answer is found all the same.
func TestSlackOnceInLongThread(t *testing.T) {
	s := newSlack(t)
	s.mu.Lock()
	for i := range 450 {
		s.keep(posted{Channel: "C1", Thread: "1699.5", Text: fmt.Sprint("reply ", i)})
	}
	s.mu.Unlock()
	data := t.TempDir()
	p := start(t, data, append(s.settings(), "TRIAGE_CRASH_AT=after-post")...)
	log, _ := failingLog(t)
	mention, _ := json.Marshal(map[string]any{"type": "event_callback", "event_id": "Ev1", "event": map[string]any{
		"type": "app_mention", "channel": "C1", "user": "U1", "ts": "1699.9", "thread_ts": "1699.5", "text": "<@UBOT> " + log}})
	s.request(p, "/slack/events", "application/json", mention, time.Now())
	p.died()
	p = start(t, data, s.settings()...)
	settled(t, p)
	if n := len(s.in("C1")) - 450; n != 1 {
		t.Errorf("%d answers", n)
	}
}
