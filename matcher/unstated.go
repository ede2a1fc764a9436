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
		if f == nil {
			continue
		}
		ends := f.matches[0].signature.Explains
		if chosen == nil && (contrast.quiet || r.shows(ends)) || chosen != nil && isOneOf(chosen, ends) {
			return f
		}
	}
	return nil
}

// shows tells whether one of the signatures, which may be a harmless one, knows an exception that was read.
func (r *Reading) shows(ids []string) bool {
	for _, e := range r.events {
		for _, el := range e.chain {
			if slices.ContainsFunc(el.matches, func(s *rules.Signature) bool { return slices.Contains(ids, s.ID) }) {
				return true
			}
		}
	}
	return false
}

func isOneOf(f *finding, ids []string) bool { return slices.Contains(ids, f.matches[0].signature.ID) }

// contrasted is what signatures make of a contrast.
func (r *Reading) contrasted(said contrast, situation *rules.Situation) *finding {
	el := element{line: said.lines[0], text: said.text, shows: said.lines[1:]}
	for _, known := range r.engine.unstated {
		el.matches = append(el.matches, known.Signature())
	}
	e := newEvent(len(r.events))
	never := func(occurrence) bool { return false }
	about := said.about
	if len(about) == 0 {
		line := said.lines[0]
		line.Rank = NoRank
		about = []Line{line}
	}
	for _, line := range about {
		e.occurred(r.occurrence(line), chain{el}, never)
	}
	f := &finding{event: e, element: e.chain.head(), sighting: e.sighting(never)}
	if f.matches, _ = r.weigh(f.element, situation); len(f.matches) == 0 {
		return nil
	}
	return f
}
