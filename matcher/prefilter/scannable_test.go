package prefilter

import (
	"bytes"
	"testing"

	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/scan/corpus"
	"github.com/gpu-triage/triage/rules"
)

// TestShippedKnowledgeIsScannable: one keyword that cannot be looked for in raw bytes would make every line of every log be read.
func TestShippedKnowledgeIsScannable(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	b := newFilter(base).build()
	for _, l := range b.lines {
		if len(l.Text) < scan.WideLiteral {
			t.Errorf("%q makes the scan of every log slower: it has fewer than %d bytes", l.Text, scan.WideLiteral)
		}
	}
	for _, literals := range [][]scan.Literal{b.lines, b.progress} {
		if _, err := scan.New(literals); err != nil {
			t.Error(err)
		}
	}
	var log bytes.Buffer
	if err := corpus.Write(&log, 2_000_000, corpus.Ordinary, 4); err != nil {
		t.Fatal(err)
	}
	for _, r := range New(base).Remarks(log.Bytes()) {
		t.Error(r.Problem)
	}
	const most = 100 // lines in a megabyte of a log in which next to nothing happens
	lines, met := 0, map[string]int{}
	set := New(base).lines
	set.Lines(log.Bytes(), func(hit scan.Hit) bool {
		lines++
		for _, id := range hit.IDs {
			met[set.Literals()[id].Text]++
		}
		return true
	})
	if lines > most*log.Len()/1_000_000 {
		t.Errorf("%d lines of %d bytes are looked at; take rarer keywords than the most frequent of %v", lines, log.Len(), met)
	}
}
