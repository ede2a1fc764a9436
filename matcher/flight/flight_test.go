package flight

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

func read(t testing.TB, rank string) *Dump {
	t.Helper()
	name := "../../testdata/logs/nccl/flight-recorder/nccl_trace_rank_" + rank
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !Is(data[:min(len(data), 512)]) {
		t.Errorf("%s is not recognised", name)
	}
	d, err := parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCompare(t *testing.T) {
	findings := Compare([]*Dump{read(t, "0"), read(t, "1")})
	if len(findings) != 2 {
		t.Fatalf("got %v, want that one rank is missing and the other waits", findings)
	}
	if f := findings[0]; f.Kind != NeverJoined || f.Rank != 1 || f.Dump.Rank != 1 || !strings.Contains(f.Text(), "rank 1 never joined collective 7 (nccl:_all_gather_base) of group default_pg; its last was 6 (nccl:all_reduce), called from flight_recorder (") {
		t.Errorf("got %s: %s", f.Kind, f.Text())
	}
	if f := findings[1]; f.Kind != Waiting || f.Dump.Rank != 0 || !strings.HasPrefix(f.Text(), "flight recorder: waits in collective 7 (nccl:_all_gather_base) of group default_pg, rank 0, ") {
		t.Errorf("got %s: %s", f.Kind, f.Text())
	}
}

func TestCompareWithoutOneDump(t *testing.T) {
	findings := Compare([]*Dump{read(t, "0")})
	if len(findings) != 2 || findings[0].Kind != NoDump || findings[0].Rank != 1 || !strings.Contains(findings[0].Text(), "rank 1 left no dump") {
		t.Errorf("got %v", findings)
	}
}

func TestCompareMismatch(t *testing.T) {
	a, b := read(t, "0"), read(t, "1")
	key := callKey{"0", 7}
	b.calls[key] = call{op: "nccl:broadcast", sizes: "[4]", state: "scheduled"}
	b.last["0"] = 7
	findings := Compare([]*Dump{a, b})
	var kinds []Kind
	for _, f := range findings {
		kinds = append(kinds, f.Kind)
	}
	if !slices.Equal(kinds, []Kind{Disagree, Waiting, Waiting}) || !strings.HasPrefix(findings[0].Text(), "flight recorder: ranks disagree on collective 7 of group default_pg: rank 0 calls ") ||
		!strings.HasSuffix(findings[0].Calls, ", rank 1 calls nccl:broadcast with [4]") {
		t.Errorf("got %v: %s", kinds, findings[0].Calls)
	}
}

// TestShape: long lists of sizes are cut to eight on both levels.
func TestShape(t *testing.T) {
	numbers := func(n int) *list {
		l := &list{}
		for i := range n {
			l.items = append(l.items, i+1)
		}
		return l
	}
	for n, want := range map[int]string{7: "[1x2x3x4x5x6x7]", 8: "[1x2x3x4x5x6x7x8]", 9: "[1x2x3x4x5x6x7x8]"} {
		if got := shape(&list{[]any{numbers(n)}}); got != want {
			t.Errorf("%d sizes are shown as %s, not %s", n, got, want)
		}
		types := &list{}
		for range n {
			types.items = append(types.items, "Float")
		}
		if got := strings.Count(shape(types), "Float"); got != min(n, 8) {
			t.Errorf("%d of %d types are shown", got, n)
		}
	}
}

// TestValue: a finding has all members that conditions may ask about, and no other.
func TestValue(t *testing.T) {
	declared := condition.NewScope()
	for name, shape := range signature.FindingShapes() {
		if err := declared.Declare(name, shape); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range Compare([]*Dump{read(t, "0"), read(t, "1")}) {
		for member := range f.Value().JSON().(map[string]any) {
			if _, err := declared.Compile("flight." + member); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestLimits: a dump of 64 MiB is read, and of a list eight items are shown.
func TestLimits(t *testing.T) {
	for size, want := range map[int]string{64 << 20: "plain data", 64<<20 + 1: "more than 64 MiB"} {
		if _, _, err := Read("trace_0", bytes.NewReader(make([]byte, size))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v, want %s", size, err, want)
		}
	}
	numbers := func(n int) *list { return &list{slices.Repeat([]any{1}, n)} }
	for n, want := range map[int]string{8: "[1x1x1x1x1x1x1x1]", 9: "[1x1x1x1x1x1x1x1]"} {
		if got := shape(&list{[]any{numbers(n)}}); got != want {
			t.Errorf("%d sizes: %s, want %s", n, got, want)
		}
		if got := shape(&list{slices.Repeat([]any{"Float"}, n)}); strings.Count(got, "Float") != 8 {
			t.Errorf("%d types: %s", n, got)
		}
	}
}

func TestUnpickleRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"a call":          "\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.",
		"a claimed 4 GiB": "\x80\x02X\xff\xff\xff\xffab.",
		"no end":          "\x80\x02]",
		"an empty stack":  "\x80\x02.",
		"no mark":         "\x80\x02]e.",
	} {
		if v, err := unpickle([]byte(data)); err == nil {
			t.Errorf("%s gave %v", name, v)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, rank := range []string{"0", "1"} {
		data, err := os.ReadFile("../../testdata/logs/nccl/flight-recorder/nccl_trace_rank_" + rank)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := parse("trace_0", data); err == nil {
			Compare([]*Dump{d})
		}
	})
}
