// Package catalogue describes known failures and backend rules to somebody who has no log of them: what a failure looks like, why it
// happens, how it is told from its look-alikes, and what to do. The sentences of a signature have places for what a log says, so they are
// filled from the signature's own examples, which the engine reads for that; what no example tells is named instead.
package catalogue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/signature"
	"github.com/gpu-triage/triage/rules/spelling"
)

// Page is what is known of one failure.
type Page struct {
	ID        string         `json:"id"`
	Family    string         `json:"family"`
	Title     string         `json:"title"`
	Role      signature.Role `json:"role"`
	Note      string         `json:"note,omitempty"`      // what a failure of that role is, where it is not simply a cause
	Samples   []Sample       `json:"samples"`             // in which it is the answer
	Words     []string       `json:"words,omitempty"`     // one of which stands in the lines that show it, where there is no sample
	Why       []string       `json:"why"`                 // in the first sample, where there is one
	Elsewhere []string       `json:"elsewhere,omitempty"` // what is said in other cases
	Needs     []Need         `json:"needs"`
	Fixes     []report.Fix   `json:"fixes"`
	Apart     []Alike        `json:"apart"`
	Sources   []string       `json:"sources"`
	Filled    bool           `json:"filled"` // names and numbers of the samples stand in the sentences
}

// Sample is a log in which the failure is the answer, around the line that shows it.
type Sample struct {
	Log    string `json:"log"`
	Shows  string `json:"shows"` // the line that shows it
	Source string `json:"source"`
}

// Need is a fact that the answer hangs on.
type Need struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Is    string `json:"is,omitempty"` // what must hold, in words
	How   string `json:"how,omitempty"`
}

// Alike is what could be taken for the failure and is not. Without an ID it is no failure at all.
type Alike struct {
	ID    string `json:"id,omitempty"`
	Title string `json:"title"`
	Shows string `json:"shows,omitempty"` // its line, from a log in which it is the answer or nothing is
	Order string `json:"order,omitempty"` // which of the two is the answer where both fit
}

// notes tell what a failure is whose role is not simply that of a cause.
var notes = map[signature.Role]string{
	signature.Consequence: "This follows from another failure. It is the answer only when the log shows no cause.",
	signature.Generic:     "This is said where nothing more particular is known.",
	signature.Unexplained: "No cause is named: the error is shown with what its kind means.",
	signature.Message:     "This is read from the words of an error of which nobody knows the cause, and is added to the answer.",
	signature.Inferred:    "No line of a log says so. A comparison of its steps shows it, where no line names a failure.",
	signature.Noise:       "This is harmless. Such lines are passed over.",
	signature.Progress:    "This is no failure: it shows that the job goes on, and that it survived what came before.",
	signature.Command:     "This is no failure: a shell is given another command, so that what failed before belongs to another program.",
	signature.Pace:        "This is no failure: it is how far and how fast a job goes.",
}

// Of is the page of the failure with that id. The error says what was probably meant, or that an example cannot be read.
func Of(ctx context.Context, engine *matcher.Engine, id string) (*Page, error) {
	base := engine.Base()
	s := base.Signature(id)
	if s == nil {
		var ids []string
		for _, e := range base.Entries {
			ids = append(ids, e.ID)
		}
		if near := spelling.Nearest(id, ids); near != "" {
			return nil, fmt.Errorf("there is no failure %s, did you mean %s? triage rules list lists them", id, near)
		}
		return nil, fmt.Errorf("there is no failure %s; triage rules list lists them", id)
	}
	examples, err := base.Examples([]*signature.Signature{s})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(examples, func(e signature.Example) bool { return e.Answer.ID == id }) {
		all, err := base.Examples(base.Signatures())
		if err != nil {
			return nil, err
		}
		examples = append(examples, byAnswer(all)[id]...)
	}
	return pageOf(ctx, engine, s, examples)
}

// byAnswer groups examples by what they are answered with. What is said where nothing more particular fits has its examples with the
// signatures of which they are near misses.
func byAnswer(all []signature.Example) map[string][]signature.Example {
	answered := make(map[string][]signature.Example)
	for _, e := range all {
		answered[e.Answer.ID] = append(answered[e.Answer.ID], e)
	}
	return answered
}

// pageOf writes a page with the examples that stand with a signature, and others of which it is the answer.
func pageOf(ctx context.Context, engine *matcher.Engine, s *signature.Signature, examples []signature.Example) (*Page, error) {
	p := &Page{
		ID: s.ID, Family: s.Family, Title: s.Title, Role: s.Role, Note: notes[s.Role], Samples: []Sample{}, Why: []string{}, Needs: []Need{},
		Fixes: []report.Fix{}, Apart: []Alike{}, Sources: append([]string{}, s.References...),
	}
	slices.SortStableFunc(examples, func(a, b signature.Example) int { return cmp.Compare(standing(a), standing(b)) })
	words := writer{vocabulary: engine.Base().Vocabulary}
	for _, e := range examples {
		if e.Answer.ID != s.ID || len(words.cases) == maxSamples {
			continue
		}
		situation, err := read(ctx, engine, s, e)
		if err != nil {
			return nil, fmt.Errorf("an example of %s: %w", s.ID, err)
		}
		if situation == nil { // somebody's own rules take it for something else
			continue
		}
		words.cases = append(words.cases, situation)
		p.Samples = append(p.Samples, sampleOf(e))
	}
	if len(p.Samples) == 0 {
		p.Words = slices.Concat(s.Keywords, s.Last)
	}
	words.say(p, s)
	p.Needs = needsOf(s, engine.Base())
	p.Apart = apart(engine.Base(), s, examples)
	return p, nil
}

// standing orders examples: what somebody ran shows a failure better than what was written for a test.
func standing(e signature.Example) int { return slices.Index(signature.Provenances, e.Provenance) }

// How much a page holds.
const (
	maxSamples  = 6
	linesBefore = 12 // of the one that shows the failure
	linesAfter  = 2
	maxAlike    = 12
)

// sampleOf is the part of an example's log that shows its failure.
func sampleOf(e signature.Example) Sample {
	lines := strings.Split(strings.TrimRight(e.Log, "\n"), "\n")
	at := min(max(e.Line, 1), len(lines)) - 1
	part := lines[max(0, at-linesBefore):min(len(lines), at+linesAfter+1)]
	return Sample{Log: strings.Join(part, "\n"), Shows: strings.TrimSpace(lines[at]), Source: e.Source}
}
