package matcher

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// unstated is the failure that no line states, when nothing else explains how the job ended: no failure was chosen, or one that this
// one explains. Otherwise it is nil.
func (r diagnoser) unstated(chosen *finding, situation *condition.Situation) *finding {
	if chosen != nil && !slices.ContainsFunc(r.inferred(), func(e *signature.Entry) bool { return isOneOf(chosen, e.Explains) }) {
		return nil
	}
	for _, contrast := range contrastsOf(r.paces) {
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
func (r diagnoser) shows(ids []string) bool {
	for _, e := range r.events {
		for _, el := range e.chain {
			if slices.ContainsFunc(el.matches, func(s *signature.Signature) bool { return slices.Contains(ids, s.ID) }) {
				return true
			}
		}
	}
	return false
}

// inferred are the signatures that are asked about what comparisons show.
func (r diagnoser) inferred() (all []*signature.Entry) {
	for _, e := range r.base.Entries {
		if e.Role == signature.Unstated {
			all = append(all, e)
		}
	}
	return all
}

func isOneOf(f *finding, ids []string) bool { return slices.Contains(ids, f.matches[0].signature.ID) }

// contrasted is what signatures make of a contrast.
func (r diagnoser) contrasted(said contrast, situation *condition.Situation) *finding {
	el := element{line: said.lines[0], text: said.text, shows: said.lines[1:]}
	for _, known := range r.inferred() {
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
	if f.matches, _ = weigh(f.element, situation); len(f.matches) == 0 {
		return nil
	}
	return f
}
