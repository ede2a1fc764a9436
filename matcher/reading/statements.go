package reading

import (
	"iter"
	"sync"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/xid"
)

// statements are what lines state of the job and of where it ran.
type statements struct {
	catalogue     *xid.Catalogue
	facts         *facts.LogFacts
	selectionLogs facts.SelectionLogs
	xids          facts.Xids
	origin        facts.OriginCollector
	told          []facts.Told       // what the authors of posts have found out
	prose         []logline.Sentence // of the first post
	patterns      []logline.Line     // by the number of a pattern that conditions look for: the first line that matches
	found         prefilter.Found    // by the same: there is one, as the workers of a scan may know
}

func newStatements(base *rules.Base) statements {
	patterns := len(base.Scope.LogPatterns())
	return statements{
		catalogue:     base.Xids,
		facts:         facts.NewLogFacts(base.Vocabulary),
		selectionLogs: make(facts.SelectionLogs),
		patterns:      make([]logline.Line, patterns),
		found:         make(prefilter.Found, patterns),
	}
}

// take takes what a line states, of what it may state. Text is the part of it that counts. Said tells that a person may have written it.
func (s *statements) take(possible iter.Seq[*prefilter.Statement], text string, line logline.Line, said bool) {
	if s.facts.Continues(text, line) {
		return
	}
	isSpeech := sync.OnceValue(func() bool { return s.facts.Speech(text) }) // costs more than all readers
	for what := range possible {
		switch {
		case what.Reader != nil && (what.Reader.Said || said && facts.Common(what.Reader, text) && isSpeech()):
			if said {
				s.facts.Hear(what.Reader, text, line, what.Packages)
			}
		case what.Reader != nil:
			weight := facts.FromLine
			if what.Packages {
				weight = facts.FromPackageList
			}
			s.facts.Read(what.Reader, text, line, weight)
		case what.Dict != nil:
			s.facts.Begin(what.Dict, text, line)
		case what.SelectionLog != "":
			s.selectionLogs.Add(what.SelectionLog, text, line)
		case what.Xid:
			s.xids.Add(s.catalogue, text, line)
		case !s.found.Has(what.Number) && (what.Pattern.Matches(text) || len(text) < len(line.Text) && what.Pattern.Matches(line.Text)):
			s.patterns[what.Number] = line
			s.found.Add(what.Number)
		}
	}
}

// hear takes in the sentences that a person wrote into a source.
func (s *statements) hear(sentences []logline.Sentence) {
	s.told = append(s.told, s.facts.Tell(sentences)...)
	if s.prose == nil { // of the first post; nobody gives several
		s.prose = sentences
	}
}
