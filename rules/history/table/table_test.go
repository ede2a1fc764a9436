package table

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func small(t testing.TB) []byte {
	t.Helper()
	date := time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)
	encoded, err := Encode("demo", []string{"demo"}, []Release{
		{Version: "1.0", Date: date, RequiresPython: ">=3.8", Requires: []string{"numpy>=1.17"}},
		{Version: "1.1", Date: date.AddDate(0, 1, 0), Requires: []string{"numpy>=1.17", "torch"}},
		{Version: "2.0", Date: date.AddDate(0, 2, 0), Unread: true},
	}, []Module{
		{Name: "demo.part", In: SetOf([]int{1}), Entries: []Entry{{Record{Function, "f", "a,b="}, SetOf([]int{1})}}},
		{Name: "demo", In: SetOf([]int{0, 1}), Entries: []Entry{
			{Record{Value, "x", ""}, SetOf([]int{0})},
			{Record{Import, "f", "demo.part:f"}, SetOf([]int{1})},
			{Record{Star, "", "demo.part"}, SetOf([]int{0, 1})},
		}},
	}, Compress)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestRoundTrip(t *testing.T) {
	table, err := Decode(small(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := table.ModuleNames(); !cmp.Equal(got, []string{"demo", "demo.part"}) {
		t.Errorf("modules are %q", got)
	}
	want := &Module{Name: "demo", In: Set{{0, 1}}, Entries: []Entry{
		{Record{Star, "", "demo.part"}, Set{{0, 1}}},
		{Record{Import, "f", "demo.part:f"}, Set{{1, 1}}},
		{Record{Value, "x", ""}, Set{{0, 0}}},
	}}
	got, err := table.Module("demo")
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("demo is read back otherwise, %v: %s", err, cmp.Diff(want, got))
	}
	r := table.Releases[1]
	if r.Version != "1.1" || r.Date.Format("2006-01-02") != "2024-02-02" || !cmp.Equal(r.Requires, []string{"numpy>=1.17", "torch"}) {
		t.Errorf("the second release is %+v", r)
	}
	if none, err := table.Module("nothing"); none != nil || err != nil {
		t.Errorf("a module that is not there: %v, %v", none, err)
	}
}

func TestSet(t *testing.T) {
	s := SetOf([]int{0, 1, 4, 5, 6, 9})
	if !cmp.Equal(s, Set{{0, 1}, {4, 6}, {9, 9}}) {
		t.Fatalf("runs are %v", s)
	}
	for i, want := range []bool{true, true, false, false, true, true, true, false, false, true, false} {
		if s.Has(i) != want {
			t.Errorf("Has(%d) is %v", i, !want)
		}
	}
}

func TestDamaged(t *testing.T) {
	whole := small(t)
	for i := range whole {
		bad := append([]byte(nil), whole...)
		bad[i] ^= 0x55
		if table, err := Decode(bad); err == nil && len(table.Releases) != 3 {
			t.Errorf("byte %d changed: it is read as %+v, without an error", i, table)
		}
		if _, err := Decode(whole[:i]); err == nil {
			t.Errorf("cut after byte %d: no error", i)
		}
	}
}

// FuzzDecode looks for a body that makes the reader crash. The checksum of the compressed form would hide the body, so that the target is what
// follows decompression.
func FuzzDecode(f *testing.F) {
	f.Add("\x01a\x00\x00\x00\x00\x00\x00")
	f.Add("")
	f.Fuzz(func(t *testing.T, body string) {
		table, err := decodeBody(body)
		if err != nil {
			return
		}
		for _, name := range table.ModuleNames() {
			if _, err := table.Module(name); err != nil && !errors.Is(err, errDamaged) {
				t.Fatal(err)
			}
		}
	})
}
