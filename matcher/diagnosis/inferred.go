package diagnosis

import (
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// unstated is the failure that no line states, when nothing else explains how the job ended: no failure was chosen, or one that this
// one explains. Otherwise it is nil.
func (r diagnoser) inferredFailure(chosen *finding, situation *condition.Situation) *finding {
	if chosen != nil && !slices.ContainsFunc(r.inferred(), func(e *signature.Entry) bool { return isOneOf(chosen, e.Explains) }) {
		return nil
	}
	for _, contrast := range pace.Compare(r.Paces) {
		f := r.contrasted(contrast, situation)
		if f == nil {
			continue
		}
		ends := f.matches[0].signature.Explains
		if chosen == nil && (contrast.Quiet || r.shows(ends)) || chosen != nil && isOneOf(chosen, ends) {
			return f
		}
	}
	return nil
}

// shows tells whether one of the signatures, which may be a harmless one, knows an exception that was read.
func (r diagnoser) shows(ids []string) bool {
	for _, e := range r.Events {
		for _, el := range e.Chain {
			if slices.ContainsFunc(el.Matches, func(s *signature.Signature) bool { return slices.Contains(ids, s.ID) }) {
				return true
			}
		}
	}
	return false
}

// inferred are the signatures that are asked about what comparisons show.
func (r diagnoser) inferred() (all []*signature.Entry) {
	for _, e := range r.Base.Entries {
		if e.Role == signature.Inferred {
			all = append(all, e)
		}
	}
	return all
}

func isOneOf(f *finding, ids []string) bool { return slices.Contains(ids, f.matches[0].signature.ID) }

// contrasted is what signatures make of a contrast.
func (r diagnoser) contrasted(said pace.Finding, situation *condition.Situation) *finding {
	el := reading.Element{Line: said.Lines[0], Text: said.Text, Shows: said.Lines[1:]}
	for _, known := range r.inferred() {
		el.Matches = append(el.Matches, known.Signature())
	}
	e := reading.NewEvent(len(r.Events))
	never := func(reading.Occurrence) bool { return false }
	about := said.About
	if len(about) == 0 {
		line := said.Lines[0]
		line.Rank = logline.NoRank
		about = []logline.Line{line}
	}
	for _, line := range about {
		e.Occurred(r.Occurrence(line), reading.Chain{el}, never)
	}
	f := &finding{event: e, element: e.Chain.Head(), Occurrences: e.Occurrences(never)}
	if f.matches, _ = r.weigh(f.element, situation); len(f.matches) == 0 {
		return nil
	}
	return f
}
