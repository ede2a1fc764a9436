package matcher

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules"
)

// Example is a real log with its verdict in it, on lines that begin with "#=" and are no part of the log:
//
//	#=source= where the log is from
//	#=fact= name=value
//	#=match= id certainty   (before the line that is the first evidence of the root cause)
//	#=not= id               (a near miss: this signature must not be diagnosed)
//	#=rank= number          (the rank that failed first)
//
// Without a #=match= nothing may be diagnosed.
type Example struct {
	Name   string // its file
	Source string
	Log    []byte
	Facts  map[string]string
	Want   []Want
	Not    []string
	Rank   int // NoRank when it does not matter
}

// Want is a diagnosis that an example must get as its root cause.
type Want struct {
	ID        string
	Certainty Certainty
	Line      int // of the first evidence, in the log without the markers
}

// ParseExample reads a log with its verdict. The error is rules.Problems.
func ParseExample(name string, content []byte) (Example, error) {
	e := Example{Name: name, Facts: make(map[string]string), Rank: NoRank}
	var problems rules.Problems
	var log bytes.Buffer
	kept := 0
	for i, line := range bytes.SplitAfter(content, []byte{'\n'}) {
		rest, marked := bytes.CutPrefix(line, []byte("#="))
		if !marked {
			log.Write(line)
			kept++
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(string(rest)), "=")
		if err := e.mark(key, strings.TrimSpace(value), kept+1); err != nil {
			problems = append(problems, rules.Problem{File: name, Line: i + 1, Column: 1, Message: err.Error()})
		}
	}
	e.Log = log.Bytes()
	if e.Source == "" {
		problems = append(problems, rules.Problem{File: name, Line: 1, Column: 1, Message: "the line `#=source= where this log is from` is missing"})
	}
	if len(problems) > 0 {
		return e, problems
	}
	return e, nil
}

func (e *Example) mark(key, value string, next int) error {
	switch key {
	case "source":
		e.Source = value
	case "fact":
		name, text, ok := strings.Cut(value, "=")
		if !ok {
			return fmt.Errorf("a fact is written name=value, not %q", value)
		}
		e.Facts[name] = text
	case "match":
		id, certainty, _ := strings.Cut(value, " ")
		if certainty = strings.TrimSpace(certainty); certainty != string(Confirmed) && certainty != string(Likely) {
			return fmt.Errorf("the certainty is confirmed or likely, not %q", certainty)
		}
		e.Want = append(e.Want, Want{ID: id, Certainty: Certainty(certainty), Line: next})
	case "not":
		e.Not = append(e.Not, value)
	case "rank":
		rank, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("the rank is a number, not %q", value)
		}
		e.Rank = rank
	default:
		return fmt.Errorf("unknown mark #=%s=; marks are source, fact, match, not and rank", key)
	}
	return nil
}

// Try diagnoses an example and tells in what the answer differs from its verdict.
func (e *Engine) Try(ctx context.Context, example Example) (mistakes []string) {
	var known []Fact
	for name, text := range example.Facts {
		value, err := e.base.Vocabulary.Parse(name, text)
		if err != nil {
			return []string{err.Error()}
		}
		known = append(known, Fact{Name: name, Value: value, Origin: FromUser})
	}
	for _, id := range append(slices.Clone(example.Not), example.ids()...) {
		if e.base.Signature(id) == nil {
			mistakes = append(mistakes, "there is no signature "+id)
		}
	}
	reading := e.Begin()
	if err := reading.Read(ctx, example.Name, bytes.NewReader(example.Log)); err != nil {
		return []string{err.Error()}
	}
	report := reading.Report(known...)
	return append(mistakes, example.compare(report)...)
}

func (e Example) ids() []string {
	ids := make([]string, len(e.Want))
	for i, w := range e.Want {
		ids[i] = w.ID
	}
	return ids
}

func (e Example) compare(report Report) (mistakes []string) {
	found := report.Diagnoses
	for _, d := range found {
		if slices.Contains(e.Not, d.ID) {
			mistakes = append(mistakes, fmt.Sprintf("%s is diagnosed (%s) and must not be", d.ID, d.Certainty))
		}
	}
	if len(e.Want) == 0 {
		for _, d := range found {
			mistakes = append(mistakes, fmt.Sprintf("nothing may be diagnosed, but %s is, from line %d", d.ID, d.Evidence[0].Line))
		}
		return mistakes
	}
	if len(found) == 0 {
		return append(mistakes, fmt.Sprintf("%s is not diagnosed, nothing is", e.Want[0].ID))
	}
	for i, want := range e.Want {
		if i >= len(found) {
			return append(mistakes, fmt.Sprintf("%s is not diagnosed", want.ID))
		}
		got := found[i]
		if got.ID != want.ID || got.Certainty != want.Certainty {
			mistakes = append(mistakes, fmt.Sprintf("%s %s is diagnosed instead of %s %s", got.ID, got.Certainty, want.ID, want.Certainty))
		} else if got.Evidence[0].Line != want.Line {
			mistakes = append(mistakes, fmt.Sprintf("%s is found in line %d of the log, not in the marked line %d", got.ID, got.Evidence[0].Line, want.Line))
		}
	}
	if rank := found[0].Rank; e.Rank != NoRank && (rank == nil || *rank != e.Rank) {
		mistakes = append(mistakes, fmt.Sprintf("the rank that failed first is %v, not %d", rank, e.Rank))
	}
	return mistakes
}
