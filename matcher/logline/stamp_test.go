package logline

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/gpu-triage/triage/rules/wrapper"
)

// TestStampLen compares the hand-written reader of times with the expression that it stands for.
func TestStampLen(t *testing.T) {
	want := regexp.MustCompile(`^` + wrapper.Stamp)
	stamps := []string{"2026-03-01 10:11:12", "2026/03/01T10:11:12.123456Z", "03/01/2026 10:11:12", "03-01 10:11:12,5+01:00", "2026-03-01_10:11:12:123-0500", "2026-03-01 10:11:12.1234567890"}
	rnd := rand.New(rand.NewPCG(1, 1))
	found := 0
	for range 200_000 {
		text := []byte(stamps[rnd.IntN(len(stamps))] + " text")
		for range rnd.IntN(3) {
			text[rnd.IntN(len(text))] = "0123-/:.,TZ_+ x"[rnd.IntN(15)]
		}
		text = text[:rnd.IntN(len(text)+1)]
		length := len(want.Find(text))
		if length > 0 {
			found++
		}
		if got := stampLen(string(text)); got != length {
			t.Fatalf("%q: %d bytes, want %d", text, got, length)
		}
	}
	if found < 20_000 {
		t.Errorf("only %d texts had a time", found)
	}
}
