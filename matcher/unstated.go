package matcher

import (
	"slices"

	"github.com/gpu-triage/triage/rules"
)

// contrast is something that no line states and a comparison of lines shows, in words that signatures can know.
type contrast struct {
	text  string
	lines []Line // the one that shows where it began first
	about []Line // a line of each process that it is about, when not about all
	quiet bool   // nothing comes after it that could say more
}

// unstated is the failure that no line states, when nothing else explains how the job ended: no failure was chosen, or one that this
// one explains. Otherwise it is nil.
func (r *Reading) unstated(chosen *finding, situation *rules.Situation) *finding {
	if chosen != nil && !slices.ContainsFunc(r.engine.unstated, func(e *rules.Entry) bool { return isOneOf(chosen, e.Explains) }) {
		return nil
	}
	for _, contrast := range r.contrasts() {
		f := r.contrasted(contrast, situation)
		if f != nil && (chosen == nil && contrast.quiet || chosen != nil && isOneOf(chosen, f.matches[0].signature.Explains)) {
			return f
		}
	}
	return nil
}

func isOneOf(f *finding, ids []string) bool { return slices.Contains(ids, f.matches[0].signature.ID) }

// contrasted is what signatures make of a contrast.
func (r *Reading) contrasted(said contrast, situation *rules.Situation) *finding {
	el := element{line: said.lines[0], text: said.text, shows: said.lines[1:]}
	for _, known := range r.engine.unstated {
		el.matches = append(el.matches, known.Signature())
	}
	e := &event{chain: []element{el}, number: len(r.events)}
	about := said.about
	if len(about) == 0 {
		line := said.lines[0]
		line.Rank = NoRank
		about = []Line{line}
	}
	for _, line := range about {
		e.occurred(occurrence{order: r.order(line), line: line, writer: processKey(line)})
	}
	f := &finding{event: e, element: e.head()}
	if f.matches, _ = weigh(f.element, situation); len(f.matches) == 0 {
		return nil
	}
	return f
}
