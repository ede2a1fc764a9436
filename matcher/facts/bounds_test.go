package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
)

// Each bound that decides what is known has a case on each side of it.

func shipped(t *testing.T) *rules.Base {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// heads is a reader of dicts like those of TransformerEngine.
var heads = &fact.DictReader{Marker: "config="}

func TestOpenDictBounds(t *testing.T) {
	base := shipped(t)
	for processes, want := range map[int]bool{256: true, 257: false} {
		l := NewLogFacts(base.Vocabulary)
		at := func(i int) logline.Line { return logline.Line{Source: "a.log", Number: 1, Writer: fmt.Sprint(i)} }
		for i := range processes {
			l.Begin(heads, "config={'head_dim_qk': 64,", at(i))
		}
		if got := l.Continues("'head_dim_v': 64}", at(processes-1)); got != want {
			t.Errorf("the last of %d open dicts is read: %v", processes, got)
		}
	}
	for begin, want := range map[int]bool{48: true, 47: false} { // it looks in each line whose number is divisible by 64
		l := NewLogFacts(base.Vocabulary)
		l.Begin(heads, "config={'head_dim_qk': 64,", logline.Line{Source: "a.log", Number: begin})
		if got := l.Continues("'head_dim_v': 64}", logline.Line{Source: "a.log", Number: 2048}); got != want {
			t.Errorf("a dict of %d lines is read: %v", 2048-begin, got)
		}
	}
}

func TestStatedBound(t *testing.T) {
	compiled, err := pattern.New(`(?P<name>V\d+)=(?P<value>\d+)`)
	if err != nil {
		t.Fatal(err)
	}
	reader := &fact.Reader{Prefix: "env.", Pattern: compiled}
	for n, want := range map[int]int{50: 50, 51: 50} {
		var line strings.Builder
		for i := range n {
			fmt.Fprintf(&line, "V%d=%d ", i, i)
		}
		l := NewLogFacts(shipped(t).Vocabulary)
		l.Read(reader, line.String(), logline.Line{Source: "a.log", Number: 1}, FromLine)
		if got := len(l.Stated()); got != want {
			t.Errorf("of %d facts on a line %d are known, not %d", n, got, want)
		}
	}
}

func TestOriginBounds(t *testing.T) {
	c := &OriginCollector{}
	for i := range 65 {
		c.host(fmt.Sprintf("node-%02d", i))
		c.Exception(&traceback.Exception{Frames: []traceback.Frame{{File: fmt.Sprintf("/lib/site-packages/m%d.py", i), Code: "f()"}}})
	}
	if o := c.Summary(nil); len(o.Hosts) != 64 || o.Hosts[63] != "node-63" || len(o.Library) != 16 || o.Library[15].File != "/lib/site-packages/m15.py" {
		t.Errorf("%d hosts, %d frames", len(o.Hosts), len(o.Library))
	}
	for n, want := range map[int]int{253: 1, 254: 0} {
		c := &OriginCollector{}
		c.host(strings.Repeat("h", n))
		if got := len(c.Summary(nil).Hosts); got != want {
			t.Errorf("a name of %d bytes is kept %d times", n, got)
		}
	}
}

func TestSelectionLogBounds(t *testing.T) {
	logs := make(SelectionLogs)
	for i := range 201 {
		logs.Add("te", fmt.Sprint(i), logline.Line{Source: "a.log"})
	}
	if got := logs.Of("te", logline.Line{Source: "a.log"}.Process()); len(got) != 200 || got[0] != "1" || got[199] != "200" {
		t.Errorf("%d lines from %s on", len(got), got[0])
	}
	logs = make(SelectionLogs)
	for i := range 4097 {
		logs.Add("te", "x", logline.Line{Source: "a.log", Writer: fmt.Sprint(i)})
	}
	if len(logs) != 4096 {
		t.Errorf("%d processes", len(logs))
	}
	for n, want := range map[int]int{16 << 10: 16 << 10, 16<<10 + 1: 16 << 10} {
		logs = make(SelectionLogs)
		logs.Add("te", strings.Repeat("x", n), logline.Line{})
		if got := len(logs.Of("te", "")[0]); got != want {
			t.Errorf("%d bytes are kept as %d", n, got)
		}
	}
}

func TestXidBounds(t *testing.T) {
	base := shipped(t)
	add := func(n int) Facts {
		x, known := Xids{}, make(Facts)
		for i := range n {
			x.Add(base.Xids, fmt.Sprintf("NVRM: Xid (PCI:0000:%02x:%02x): 79, pid=1, GPU has fallen off the bus.", i/256, i%256), logline.Line{Source: "kernel.log", Number: i + 1})
		}
		x.State(known, base.Xids)
		return known
	}
	for n, want := range map[int]int{499: 499, 500: 500, 501: 500} {
		known := add(n)
		list, _ := known["xids"].Value.JSON().([]any)
		if len(list) != want || known["xids"].Where != "kernel.log:1" {
			t.Errorf("of %d errors %d are kept", n, len(list))
		}
	}
	if text, _ := add(500)["xid_text"].Value.JSON().(string); len(text) != 2000 {
		t.Errorf("%d bytes are said of 500 errors, not 2000", len(text))
	}
}

// TestPrecedence: the user outweighs the log, and that the machine; of one source the first counts.
func TestPrecedence(t *testing.T) {
	known := make(Facts)
	for _, f := range []Fact{{Source: FromLive, Where: "now"}, {Source: FromLog, Where: "first"}, {Source: FromLog, Where: "second"}, {Source: FromLive, Where: "now"}} {
		known.Add(f)
	}
	if known[""].Where != "first" {
		t.Errorf("the log's is %s", known[""].Where)
	}
	known.Add(Fact{Source: FromUser, Where: "said"})
	known.Add(Fact{Source: FromLog, Where: "third"})
	order := []Source{FromLive, FromUser, FromLog}
	slices.SortFunc(order, Source.Outranks)
	if known[""].Where != "said" || !slices.Equal(order, []Source{FromLive, FromLog, FromUser}) {
		t.Errorf("%s, %v", known[""].Where, order)
	}
}
