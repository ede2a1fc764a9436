package pace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// StepReader reads from lines how far and how fast a job goes, by the signatures whose role that is. They are asked about few lines
// only, so that their keywords may be common words.
type StepReader struct {
	words *prefilter.Keywords
	by    []*signature.Entry // by the number of the keyword
}

// NewStepReader prepares to read the steps that the signatures of a knowledge base know.
func NewStepReader(base *rules.Base) *StepReader {
	var words []scan.Literal
	s := &StepReader{}
	for _, e := range base.Entries {
		if e.Role != signature.Pace {
			continue
		}
		for _, word := range e.Keywords {
			words, s.by = append(words, scan.Literal{Text: word}), append(s.by, e)
		}
	}
	s.words = prefilter.NewKeywords(words)
	return s
}

// step is what one line says of that. Numbers that it does not say are 0.
type step struct {
	by       string // the signature that reads it; "" when the line shows no step
	number   float64
	of       float64 // how many there are to be
	seconds  float64 // that one takes, or 1 by a rate
	data     float64 // seconds of it that wait for data
	rate     bool    // seconds are those of a rate, of whatever it counts
	batch    float64 // samples
	memory   float64 // bytes of the GPU that are in use
	aside    aside   // something other than steps
	finished bool    // the work is done
	pause    bool    // something other than steps begins
}

// reader is a signature that reads a line, with those of its patterns that do: they read all lines that differ only in numbers.
type reader struct {
	id       string
	patterns []*pattern.Pattern
}

// of are the readers of a line. The situation is for the conditions of their signatures.
func (s *StepReader) of(line *logline.Line, situation *condition.Situation) (by []reader) {
	words := s.words.In(line.Text, nil)
	if len(words) == 0 {
		return nil
	}
	signature.SetLine(situation, line.Text, line.Source)
	for i, n := range words {
		e := s.by[n]
		if slices.ContainsFunc(words[:i], func(n int) bool { return s.by[n] == e }) {
			continue
		}
		if known := e.Signature(); condition.All(known.Match, situation) {
			patterns := slices.Clone(known.Capture)
			by = append(by, reader{e.ID, slices.DeleteFunc(patterns, func(p *pattern.Pattern) bool { return p.Submatch(line.Text) == nil })})
		}
	}
	return by
}

// stepIn is what the readers of a line find in it.
func stepIn(text string, by []reader) (read step) {
	for _, one := range by {
		groups := one.groups(text)
		if groups["step"] != "" && read.by == "" {
			read.by = one.id
			read.take(groups)
		} else {
			read.aside.take(groups)
			read.finished = read.finished || groups["finished"] != ""
			read.pause = read.pause || groups["pause"] != ""
		}
	}
	read.finished = read.finished || read.of > 0 && read.number >= read.of
	return read
}

// groups are those of the patterns that take part in a text, by the first pattern that has them.
func (r *reader) groups(text string) map[string]string {
	groups := make(map[string]string)
	for _, pattern := range r.patterns {
		m := pattern.Submatch(text)
		for i, name := range pattern.Names() {
			if m != nil && name != "" && groups[name] == "" && m[i] != "" {
				groups[name] = m[i]
			}
		}
	}
	return groups
}

// numberIn is a number in a text, 0 when it is none that counts.
func numberIn(text string) float64 {
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil || !(n > 0) || n > 1e15 {
		return 0
	}
	return n
}

func (s *step) take(groups map[string]string) {
	value := func(name string) float64 { return numberIn(groups[name]) }
	s.number, s.of, s.data, s.batch = value("step"), value("steps"), value("data_seconds"), value("batch")
	if groups["epoch"] != "" {
		s.number += value("epoch") * s.of
		s.of = 0 // what it counts to is the end of an epoch
	}
	s.memory = memoryIn(groups["memory"])
	s.seconds = value("seconds")
	if s.seconds == 0 {
		s.seconds = value("milliseconds") / 1000
	}
	if rate := value("per_second"); s.seconds == 0 && rate > 0 {
		s.seconds, s.rate = 1/rate, true
	}
}
