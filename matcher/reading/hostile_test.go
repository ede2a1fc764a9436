package reading_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// hostile makes logs that keep a reader busy: nearly each of their lines begins something, and none is like another.
type hostile struct {
	*rand.Rand
	keywords []string
}

func (h *hostile) word() string {
	word := make([]byte, 3+h.IntN(6))
	for i := range word {
		word[i] = byte('a' + h.IntN(26))
	}
	return string(word)
}

func (h *hostile) words(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = h.word()
	}
	return strings.Join(all, " ")
}

// failures is a line with the words of so many failures.
func (h *hostile) failures(n int) string {
	var line strings.Builder
	for range n {
		fmt.Fprintf(&line, "%s %s ", h.words(10), strings.ReplaceAll(h.keywords[h.IntN(len(h.keywords))], "\n", " "))
	}
	return line.String() + "\n"
}

func (h *hostile) traceback(last string) string {
	return fmt.Sprintf("Traceback (most recent call last):\n  File \"/srv/%s.py\", line %d, in %s\n    x = %s()\n%s\n", h.word(), h.IntN(999), h.word(), h.word(), last)
}

// kinds are the lines of each kind of such a log.
func (h *hostile) kinds() map[string]func() string {
	return map[string]func() string{
		"six failures a line":   func() string { return h.failures(6) },
		"forty failures a line": func() string { return h.failures(40) },
		"hundreds in a line":    func() string { return h.failures(300) },
		"tracebacks":            func() string { return h.traceback("RuntimeError: CUDA error: " + h.words(4)) },
		"long messages":         func() string { return h.traceback("ValueError: " + h.words(900)) },
		"long without a type":   func() string { return h.traceback("it failed: " + h.failures(20)) },
		"headers":               func() string { return "Traceback (most recent call last):\n" },
		"chains": func() string {
			return "ValueError: " + h.word() + "\n\nDuring handling of the above exception, another exception occurred:\n\n"
		},
		"tracebacks without ends": func() string { return strings.ReplaceAll(h.traceback(h.word()+" "), "\n", "   ") + "\n" },
		"escaped tracebacks":      func() string { return strings.ReplaceAll(h.traceback("x"), "\n", `\n`) + "\n" },
		"groups": func() string {
			return strings.Repeat("  | ", 1+h.IntN(12)) + "Exception Group Traceback (most recent call last):\n"
		},
		"compilers": func() string {
			return fmt.Sprintf("%s.cu(%d): error: identifier %q is undefined\n", h.word(), h.IntN(999), h.word())
		},
		"brackets": func() string {
			return strings.Repeat("[", h.IntN(2000)) + strings.Repeat("(", h.IntN(2000)) + "Error: x\n"
		},
		"escape sequences": func() string { return strings.Repeat("\x1b[", h.IntN(500)) + h.word() + "\n" },
		"prefixes": func() string {
			return strings.Repeat(fmt.Sprintf("[rank%d]: ", h.IntN(9)), h.IntN(300)) + h.word() + "\n"
		},
		"ranks": func() string { return fmt.Sprintf("[rank%d]: RuntimeError: %s\n", h.IntN(1e6), h.words(4)) },
		"Xids": func() string {
			return fmt.Sprintf("[ %d.1] NVRM: Xid (PCI:0000:%02x:00): %d, pid=%d, %s\n", h.IntN(1e6), h.IntN(256), h.IntN(150), h.IntN(1e6), h.word())
		},
	}
}

// log is a log of lines of one kind, of about so many bytes.
func (h *hostile) log(line func() string, size int) []byte {
	var log bytes.Buffer
	for log.Len() < size {
		log.WriteString(line())
	}
	return log.Bytes()
}

func newHostile(t testing.TB) (*hostile, *matcher.Engine) {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	h := &hostile{Rand: rand.New(rand.NewPCG(1, 1))}
	for _, e := range base.Entries {
		h.keywords = append(h.keywords, e.Keywords...)
	}
	return h, matcher.New(base)
}

// maxToEvent bounds the events that a hostile log makes, as a report has to go through them: so many, and the one that came last.
const maxToEvent = 4000 + 1

// TestHostile: logs that keep a reader busy are read to their end, whatever they make it begin.
func TestHostile(t *testing.T) {
	h, engine := newHostile(t)
	size := 600_000
	if testing.Short() {
		size /= 10
	}
	kinds := h.kinds()
	for _, name := range slices.Sorted(maps.Keys(kinds)) { // in one order, so that what fails can be had again
		log := h.log(kinds[name], size)
		job := engine.Begin()
		if err := job.Read(context.Background(), "train.log", bytes.NewReader(log)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		found := job.Result()
		if found.Stats.Bytes != int64(len(log)) || len(found.Events) > maxToEvent {
			t.Errorf("%s: %d of %d bytes were read, %d events", name, found.Stats.Bytes, len(log), len(found.Events))
		}
		if answer := job.Report(); len(answer.Diagnoses) > 4 {
			t.Errorf("%s: %d diagnoses", name, len(answer.Diagnoses))
		}
	}
}

// BenchmarkHostile measures how fast such logs are read. No kind is to be slower than the others by an order of magnitude, and none to
// become slower the longer it is.
func BenchmarkHostile(b *testing.B) {
	h, engine := newHostile(b)
	for name, line := range h.kinds() {
		for _, size := range []int{2_000_000, 16_000_000} {
			log := h.log(line, size)
			b.Run(fmt.Sprintf("%s/%d_MB", name, size/1_000_000), func(b *testing.B) {
				b.SetBytes(int64(len(log)))
				for b.Loop() {
					if err := engine.Begin().Read(context.Background(), "train.log", bytes.NewReader(log)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
