package diagnosis

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// refusedBy are the backends of a library that a failure says are none.
func refusedBy(s *signature.Signature, library *backend.Library) []string {
	if !slices.Contains(s.Refused, signature.EveryBackend) {
		return s.Refused
	}
	var names []string
	for _, b := range library.Evaluate(nil).Backends {
		names = append(names, b.Name)
	}
	return names
}

// compose puts what the rules decide in the place of the signature's words: title and cause say for each refused backend which rule
// takes it out. It returns false, and leaves the diagnosis as it is, where the rules do not explain the refusal.
func (a *asked) compose(d *report.Diagnosis, m match, refused []string) bool {
	if len(refused) < len(a.selection.Backends) {
		return a.composeCall(d, m, refused[0])
	}
	switch {
	case len(a.selection.Raises) > 0:
		a.composeRaise(d)
	case allOut(a.selection):
		d.Certainty, d.Missing = report.Confirmed, []report.Missing{}
		a.composeFrom(d, a.selection)
	case allOut(a.guess) && m.signature.Role.LastResort():
		d.Certainty = report.Likely
		a.composeFrom(d, a.guess)
		d.Cause += " That holds if what the log does not say is as usual."
	default:
		return false
	}
	if len(a.selection.Beyond) > 0 && m.certainty != report.Confirmed && !a.toldByLog() {
		d.Certainty = report.Likely
	}
	if len(a.Changes) == 0 {
		a.Changes = a.changesForOne()
	}
	d.Fixes = a.fixes(m, func(after map[string]condition.Value) (helps, surely bool) {
		usual, _ := a.library.Usual(after)
		return len(a.library.Evaluate(usual).Available()) > 0, len(a.library.Evaluate(after).Available()) > 0
	})
	return true
}

// changesForOne are the smallest changes that give some one backend, cheapest first. They are looked for where the log says that none is
// left and the rules alone cannot, because a fact is missing.
func (a *asked) changesForOne() []report.Fix {
	usual, _ := a.library.Usual(a.values)
	fixes := []report.Fix{}
	for _, b := range a.selection.Backends {
		for _, change := range a.library.ChangesFor(b.Name, usual, 1) {
			fix := proposal(change, a.library.Loses(b.Name))
			fix.Effect = b.Name + " becomes available"
			fix.Verified = a.answer(b.Name, with(a.values, change.Set)).Verdict == backend.Allowed
			fixes = append(fixes, fix)
		}
	}
	slices.SortStableFunc(fixes, func(x, y report.Fix) int { return x.Cost - y.Cost })
	return fixes[:min(len(fixes), maxChanges)]
}

// allOut tells whether every backend is out for a reason.
func allOut(s backend.Selection) bool {
	return len(s.Backends) > 0 && !slices.ContainsFunc(s.Backends, func(b backend.Answer) bool {
		return b.Verdict != backend.Disabled || len(b.Rules) == 0
	})
}

// toldByLog tells whether every reason is in the log's own words.
func (a *asked) toldByLog() bool {
	return !slices.ContainsFunc(a.selection.Backends, func(b backend.Answer) bool { return !b.Told })
}

// composeFrom makes title and cause out of the first rule that takes out each backend.
func (a *asked) composeFrom(d *report.Diagnosis, s backend.Selection) {
	title, cause := []string{}, []string{a.named(s) + " has no backend for this call."}
	for _, r := range reasonsOf(s) {
		names := strings.Join(r.backends, ", ")
		title = append(title, names+": "+inShort(r.because))
		cause = append(cause, names+": "+r.because)
	}
	d.Title = a.library.Title + " has no backend left: " + strings.Join(title, "; ")
	d.Cause = strings.Join(cause, " ")
}

// inShort is the first statement of a reason, for a title.
func inShort(because string) string {
	if strings.Contains(because, "\"") { // the log's own words stay whole
		return strings.TrimSuffix(because, ".")
	}
	text, _, _ := strings.Cut(because, ";")
	if from, to := strings.Index(text, " ("), strings.LastIndexByte(text, ')'); from >= 0 && to > from {
		text = text[:from] + text[to+1:]
	}
	return strings.TrimSuffix(text, ".")
}

// named is the library with the release whose rules were asked.
func (a *asked) named(s backend.Selection) string {
	if s.Release == "" {
		return a.library.Title
	}
	return a.library.Title + " (" + s.Release + ")"
}

// shared is a reason with the backends that it takes out.
type shared struct {
	backends []string
	because  string
}

// maxGroups is how many different reasons a cause tells; the list of backends has all of them.
const maxGroups = 6

// reasonsOf are the deciding reasons, each told once.
func reasonsOf(s backend.Selection) []shared {
	var all []shared
	for _, b := range s.Backends {
		because := sentenceOf(b.Rules[0])
		i := slices.IndexFunc(all, func(r shared) bool { return r.because == because })
		if i < 0 && len(all) == maxGroups {
			continue
		}
		if i < 0 {
			i = len(all)
			all = append(all, shared{because: because})
		}
		all[i].backends = append(all[i].backends, b.Name)
	}
	return all
}

// sentenceOf is a rule's reason as a sentence.
func sentenceOf(r backend.Rule) string {
	text := strings.TrimSpace(r.Because)
	if text != "" && !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

func (a *asked) composeRaise(d *report.Diagnosis) {
	why := sentenceOf(a.selection.Raises[0])
	d.Certainty, d.Missing = report.Confirmed, []report.Missing{}
	d.Title = a.library.Title + " refuses this call: " + strings.TrimSuffix(why, ".")
	d.Cause = a.named(a.selection) + " raises before it chooses a backend. " + why
}

// composeCall explains why one backend refused a call: the call may differ from what the backend was selected for.
func (a *asked) composeCall(d *report.Diagnosis, m match, name string) bool {
	calls := append(a.library.Calls(name, a.values), backend.Call{Facts: a.values})
	for _, call := range calls {
		refusal, ok := a.refuses(name, call.Facts)
		if !ok {
			continue
		}
		rule := refusal.Rules[0]
		d.Certainty = report.Confirmed
		if len(call.Assumed) > 0 || refusal.Verdict != backend.Disabled || len(a.selection.Beyond) > 0 {
			d.Certainty = report.Likely
		}
		d.Missing = slices.DeleteFunc(a.Missing, func(asked report.Missing) bool { return !slices.Contains(call.Assumed, asked.Name) })
		d.Title = a.library.Title + "'s " + name + " does not take this call: " + strings.TrimSuffix(sentenceOf(rule), ".")
		d.Cause = strings.TrimSpace(call.Because + " " + sentenceOf(rule))
		refusal.Verdict, refusal.Missing = backend.Disabled, nil
		d.Backends = []report.Backend{backendOf(refusal)}
		a.Changes = a.proposalsForCall(name, call.Facts)
		d.Fixes = a.fixes(m, func(after map[string]condition.Value) (helps, surely bool) { return a.serves(name, rule.ID, after) })
		return true
	}
	return false
}

// refuses tells whether the rules take a backend out, with those that do: with what is known, or, where that leaves it open, with the
// usual for what is not known. The verdict is the one without the usual.
func (a *asked) refuses(name string, values map[string]condition.Value) (refusal backend.Answer, ok bool) {
	usual, _ := a.library.Usual(values)
	refusal, guess := a.answer(name, values), a.answer(name, usual)
	if len(guess.Rules) > 0 && guess.Verdict == backend.Disabled {
		refusal.Rules = guess.Rules
		return refusal, true
	}
	return refusal, refusal.Verdict == backend.Disabled && len(refusal.Rules) > 0
}

// answer is what the rules say of one backend.
func (a *asked) answer(name string, values map[string]condition.Value) backend.Answer {
	for _, b := range a.library.Evaluate(values).Backends {
		if b.Name == name {
			return b
		}
	}
	return backend.Answer{Name: name, Verdict: backend.Unknown}
}

// serves tells whether a rule refuses none of the calls of a backend any more, and whether surely no rule does.
func (a *asked) serves(name, rule string, values map[string]condition.Value) (helps, surely bool) {
	surely = true
	calls := append(a.library.Calls(name, values), backend.Call{Facts: values})
	for _, call := range calls {
		refusal, refused := a.refuses(name, call.Facts)
		if refused && slices.ContainsFunc(refusal.Rules, func(r backend.Rule) bool { return r.ID == rule }) {
			return false, false
		}
		surely = surely && refusal.Verdict == backend.Allowed
	}
	return true, surely
}

// proposalsForCall are the smallest changes with which a backend takes a call.
func (a *asked) proposalsForCall(name string, values map[string]condition.Value) []report.Fix {
	usual, _ := a.library.Usual(values)
	fixes := []report.Fix{}
	for _, change := range a.library.ChangesFor(name, usual, maxChanges) {
		fix := proposal(change, "")
		fix.Effect = name + " takes the call"
		fix.Verified = a.answer(name, with(values, change.Set)).Verdict == backend.Allowed
		fixes = append(fixes, fix)
	}
	return fixes
}

// fixes are the changes that the rules found, and those of the signature that help when they are tried. What a signature advises to everyone is
// left out where there is something better.
func (a *asked) fixes(m match, try func(after map[string]condition.Value) (helps, surely bool)) []report.Fix {
	list := slices.Clone(a.Changes)
	first := 0
	general := []report.Fix{}
	for _, f := range m.signature.Fixes {
		if !m.offers(f) {
			continue
		}
		fix := filled(f, m)
		switch {
		case fix.Do == "":
		case len(f.Set) > 0:
			helps := false
			helps, fix.Verified = try(with(a.values, f.Set))
			if helps && !slices.ContainsFunc(list, func(have report.Fix) bool { return reflect.DeepEqual(have.Set, fix.Set) }) {
				list = append(list, fix)
			}
			if a.selection.Release == "" { // nobody can try it
				general = append(general, fix)
			}
		case len(f.When) > 0 && condition.All(f.When, m.settled):
			list = slices.Insert(list, first, fix)
			first++
		default:
			general = append(general, fix)
		}
	}
	if len(list) == 0 {
		return general
	}
	return list
}

// with are facts with some of them set to other values.
func with(values, set map[string]condition.Value) map[string]condition.Value {
	after := maps.Clone(values)
	maps.Copy(after, set)
	return after
}
