package reading

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/rootline"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
)

// nothingRead is a reading with the shipped knowledge.
func nothingRead(t *testing.T) *Reading {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	return Begin(base, prefilter.New(base), pace.NewStepReader(base), func() *rootline.Finder { return rootline.New(base.Tools) })
}

// What went by unread can be asked for, however long the lines are and however a source is cut.
func TestPast(t *testing.T) {
	asked := 0
	for seed := range uint64(15) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var log strings.Builder
		longest := []int{30, 3000, 2 * scan.LongLine}[rnd.IntN(3)]
		for range 200 {
			log.WriteString(strings.Repeat("x", rnd.IntN(1+rnd.IntN(longest))) + "\n")
		}
		raw := []byte(log.String())
		lines := bytes.SplitAfter(raw, []byte{'\n'})
		f := newLineFilter(nothingRead(t).begin("x"), logline.Sniff("x", raw))
		err := f.read(t.Context(), bytes.NewReader(raw), scan.Reading{Block: 4 << 10 << rnd.IntN(7)}, func(c *scan.Chunk) error {
			if err := f.chunk(c); err != nil || c.Open {
				return err
			}
			past, last := f.window.lines(), int(f.stats.Lines)
			for n := max(1, last-prefilter.ContextLines+1); n <= last; n++ {
				want := bytes.TrimSuffix(lines[n-1], []byte{'\n'})
				got, ok := past.at(n)
				if n > f.window.pieces && (!ok || !bytes.Equal(got, want)) {
					t.Fatalf("seed %d, after line %d: line %d of %d bytes is %d bytes, %v", seed, last, n, len(want), len(got), ok)
				}
				asked++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if asked < 2000 {
		t.Errorf("only %d lines were asked for", asked)
	}
}

// A line of any length leaves no more behind than others do.
func TestPastOfLongLine(t *testing.T) {
	f := newLineFilter(nothingRead(t).begin("x"), logline.Sniff("x", nil))
	feed := func(c scan.Chunk) {
		c.Line = int64(f.window.number)
		if c.Line == 0 {
			c.Line = 1
		}
		if err := f.chunk(&c); err != nil {
			t.Fatal(err)
		}
	}
	feed(scan.Chunk{Data: []byte("first\n"), Lines: 1})
	for range 1000 {
		feed(scan.Chunk{Data: bytes.Repeat([]byte{'x'}, 16<<10), Open: true})
	}
	if held := len(f.window.tail) + len(f.window.last); held > 4*pace.LastBytes {
		t.Errorf("%d bytes are held", held)
	}
	feed(scan.Chunk{Data: []byte("its end\n"), Lines: 1})
	if raw, ok := f.window.lines().at(1); string(raw) != "first" {
		t.Errorf("the first line is %q, %v", raw, ok)
	}
}
