package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// naive is the judge of Lines: every literal is looked for in every line.
func naive(literals []Literal, data []byte) []string {
	var found []string
	start := 0
	for line := range bytes.Lines(data) {
		length := len(bytes.TrimSuffix(line, []byte("\n")))
		text := string(Plain(nil, line))
		var ids []int32
		for i, l := range literals {
			if l.Fold {
				l.Text = lower(l.Text)
			}
			if l.In(text) {
				ids = append(ids, int32(i))
			}
		}
		if ids != nil {
			found = append(found, fmt.Sprint(start, start+length, ids))
		}
		start += len(line)
	}
	return found
}

func scanned(t *testing.T, literals []Literal, data []byte) []string {
	set, err := New(literals)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	set.Lines(data, func(hit Hit) bool {
		slices.Sort(hit.IDs)
		found = append(found, fmt.Sprint(hit.Start, hit.End, hit.IDs))
		return true
	})
	return found
}

func TestLines(t *testing.T) {
	literals := []Literal{{Text: "CUDA out of memory"}, {Text: "out of memory"}, {Text: "cuda OUT", Fold: true}, {Text: "memory. "}, {Text: "memory\n"}}
	log := "step 1\nRuntimeError: CUDA out of memory. Tried\n\nCuda Out Of Memory\nout of\nmemory\nout of memory"
	want := []string{"7 46 [0 1 2 3]", "48 66 [2]", "74 80 [4]", "81 94 [1]"}
	if diff := cmp.Diff(want, scanned(t, literals, []byte(log))); diff != "" {
		t.Error(diff)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, text := range []string{"", "loss", "line\nbreak", "carriage\rreturn", "\n"} {
		if _, err := New([]Literal{{Text: "CUDA out of memory"}, {Text: text}}); err == nil {
			t.Errorf("New took the literal %q", text)
		}
	}
}

// TestLinesEverywhere puts literals of every length at every place of lines of every length.
func TestLinesEverywhere(t *testing.T) {
	for length := MinLiteral; length < 48; length++ {
		literal := Literal{Text: "abcdefghijklmnopqrstuvwxyz"[:length/2+2]}
		if length%2 > 0 {
			literal.Text += "\n"
		}
		other := Literal{Text: strings.Repeat("?", 30)}
		for before := range 50 {
			for after := range 3 {
				data := []byte(strings.Repeat("x\n", before/2) + strings.Repeat("-", before%7) + literal.Text + strings.Repeat("+", after*21))
				if diff := cmp.Diff(naive([]Literal{literal, other}, data), scanned(t, []Literal{literal, other}, data)); diff != "" {
					t.Fatalf("%q: %s", data, diff)
				}
			}
		}
	}
}

// TestLinesStops: nothing is yielded after the line that is the last wanted one.
func TestLinesStops(t *testing.T) {
	log := []byte(strings.Repeat("CUDA out of memory\nout of words\nout of memory\n\x1b[31mCUDA out of memory\x1b[m\n", 5))
	set, err := New([]Literal{{Text: "out of memory"}})
	if err != nil {
		t.Fatal(err)
	}
	for wanted := 1; wanted <= 15; wanted++ {
		yielded := 0
		set.Lines(log, func(Hit) bool {
			yielded++
			return yielded < wanted
		})
		if yielded != wanted {
			t.Errorf("%d lines instead of %d", yielded, wanted)
		}
	}
	if !set.In(log) || set.In(log[19:32]) {
		t.Error("a line with the literal, and one without, are the same")
	}
}

// TestLinesRandom is about many literals that overlap, in logs made of their pieces.
func TestLinesRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	text := func(alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[rnd.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 300 {
		var literals []Literal
		shortest := []int{MinLiteral, WideLiteral}[rnd.IntN(2)]
		for range 1 + rnd.IntN(40) {
			l := Literal{Text: text("aAbB_\x7f\x80", shortest+rnd.IntN(8)), Fold: rnd.IntN(2) == 0}
			if rnd.IntN(4) == 0 {
				l.Text = l.Text[1:] + "\n"
			}
			literals = append(literals, l)
		}
		data := text("aAbB_\x7f\x80\naaABb\x1b[m", rnd.IntN(3000))
		if diff := cmp.Diff(naive(literals, []byte(data)), scanned(t, literals, []byte(data))); diff != "" {
			t.Fatalf("%v in %q: %s", literals, data, diff)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("CUDA out of memory\nsoftcap\nout of memory", []byte("step\nCUDA out of memory\nx softcap"), uint64(1))
	f.Add("abcdefgh", bytes.Repeat([]byte("ABCDEFGHabcdefgh\n"), 9), uint64(1))
	f.Add("CUDA out of memory", []byte("\x1b[31mCUDA out \x1b[0mof memory\nCUDA out\x1b\n of memory\n\x1b]CUDA out of memory\x07\n"), uint64(0))
	f.Add("aaaaa\naaaaaa\n\x80\x81\x82\x83\x84", []byte("aaaaaaaaaaaaaaaaaaaa\xa0\xa1\xa2\xa3\xa4\x80\x81\x82\x83\x84\n"), uint64(2))
	f.Fuzz(func(t *testing.T, list string, data []byte, fold uint64) {
		var literals []Literal
		for i, text := range strings.Split(list, "\n") {
			if len(text) >= MinLiteral && !strings.Contains(text, "\r") && i < 64 {
				literals = append(literals, Literal{Text: text, Fold: fold>>i&1 != 0})
			}
		}
		if diff := cmp.Diff(naive(literals, data), scanned(t, literals, data)); diff != "" {
			t.Fatal(diff)
		}
	})
}
