package rootline_test

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/rootline"
	"github.com/gpu-triage/triage/rules"
)

// asker finds what somebody asks about, where lines with these words are known as harmless and as progress.
func asker(t *testing.T) func(log string) *rootline.Finding {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	f := rootline.New(base.Tools)
	known := func(line logline.Line) (harmless, progress bool) {
		return strings.Contains(line.Text, "nobody minds"), strings.HasPrefix(line.Text, "step ")
	}
	return func(log string) *rootline.Finding {
		return f.Asked(rootline.Tail{Form: logline.Sniff("post.txt", []byte(log)), First: 1, Data: []byte(log), Known: known})
	}
}

const (
	question = "The new node is slow\n\nHi, since yesterday it takes hours. What should I do?\n"
	warning  = "n1:7:9 [0] misc/ibvwrap.cc:91 NCCL WARN Call to ibv_query_port failed\n"
	harmless = "n1:7:9 [0] x.cc:1 NCCL WARN Call to nobody minds failed\n"
	record   = "E 03-09 08:14:02 fleet.py:12] the fleet of tea pots is too small\n"
	step     = "step 7 took 3 s\n"
)

func TestAsked(t *testing.T) {
	ask := asker(t)
	for name, c := range map[string]struct{ log, want, is string }{
		"a warning that a row knows":                       {question + warning, "NCCL WARN Call to ibv_query_port failed", "a warning"},
		"what its logger calls an error goes before it":    {question + warning + record, "the fleet of tea pots is too small", "an error that was logged"},
		"the first of several":                             {question + record + strings.ReplaceAll(record, "fleet.py:12", "fleet.py:40"), "fleet.py:12", "an error that was logged"},
		"one line alone is asked about":                    {warning, "ibv_query_port", "a warning"},
		"a known warning is none":                          {question + harmless, "", ""},
		"nor is one after which the program made progress": {question + warning + step, "", ""},
		"nobody asks about lines of a program":             {warning + strings.ReplaceAll(warning, "port", "gid"), "", ""},
		"a logger's warning that no row knows":             {question + "[WARNING|hub.py:3] 2024-05-24 03:30:22,799 >> the tea is cold\n", "the tea is cold", "a warning"},
	} {
		found := ask(c.log)
		switch {
		case found == nil && c.want != "":
			t.Errorf("%s: got nothing, want %q", name, c.want)
		case found != nil && (c.want == "" || !strings.Contains(found.Line.Text, c.want) || found.Asked != c.is):
			t.Errorf("%s: got %q as %q, want %q as %q", name, found.Line.Text, found.Asked, c.want, c.is)
		}
	}
}
