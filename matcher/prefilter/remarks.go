package prefilter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
)

// Remark is about words of a rule that make the reading of logs slow, or that are looked for in fewer lines than their author may
// think.
type Remark struct {
	rulefile.Problem
	Signature string // whose reading of common lines is slow, "" when it is not
}

// Remarks are those about all rules, in the order of the signatures. Log is one in which next to nothing happens: what is found in it
// is read for nothing.
func (f *Filter) Remarks(log []byte) []Remark {
	lines := f.linesWith(log)
	var all []Remark
	for _, s := range f.base.Entries {
		all = append(all, shortWords(s)...)
		b := &builder{filter: newFilter(f.base)}
		b.signature(s)
		for _, l := range slices.Compact(b.lines) {
			if found := lines[l] * 1_000_000 / max(len(log), 1); found > mostCommon*1_000_000 {
				all = append(all, commonWord(s, l, found))
			}
		}
	}
	v := f.base.Vocabulary
	for _, r := range slices.Concat(v.Readers, v.PackageLines) {
		if !r.Head && !rare(readerLiterals(&r)) {
			all = append(all, commonReader(&r))
		}
	}
	return all
}

// linesWith counts the lines of a log that have each literal.
func (f *Filter) linesWith(log []byte) map[scan.Literal]int {
	lines := make(map[scan.Literal]int)
	f.lines.Lines(log, func(hit scan.Hit) bool {
		for _, id := range hit.IDs {
			lines[f.lines.Literals()[id]]++
		}
		return true
	})
	return lines
}

// shortWords are the remarks about keywords that cannot be looked for in every line.
func shortWords(s *signature.Entry) (all []Remark) {
	for _, word := range s.Keywords {
		if !shortWord(s, word) || s.Raised {
			continue
		}
		at := s.Signature().LiteralPlace(word)
		at.Message = fmt.Sprintf("%q has %d bytes and is looked for only in exceptions and in the last %d lines of a log: fewer than %d in every line "+
			"would slow the scan of all logs; take more of the text around it or, if those places are meant, write it under last:", word, len(word), ContextLines, scan.WideLiteral)
		all = append(all, Remark{Problem: at})
	}
	return all
}

// commonWord is the remark about a signature one of whose literals stands in so many lines of each megabyte.
func commonWord(s *signature.Entry, l scan.Literal, found int) Remark {
	word := s.Keywords[0]
	for _, w := range s.Keywords {
		if strings.Contains(w, l.Text) || l.In(w) {
			word = w
		}
	}
	at := s.Signature().LiteralPlace(word)
	at.Message = fmt.Sprintf("%q stands in %d lines of each MB of an ordinary log; take text that only the failure has or, if exceptions and "+
		"the last %d lines will do, write it under last:", l.Text, found, ContextLines)
	return Remark{Problem: at, Signature: s.ID}
}

// commonReader is the remark about a reader whose words are too common for all lines.
func commonReader(r *fact.Reader) Remark {
	at := r.Place
	at.Message = fmt.Sprintf("words as short or common as %q are read for facts only in the first %d lines of a log and in exceptions; "+
		"take rarer ones of %d bytes or more or, if those lines are meant, say head: true", r.Keywords[0], HeadLines, scan.WideLiteral)
	return Remark{Problem: at}
}
