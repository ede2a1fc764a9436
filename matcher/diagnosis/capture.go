package diagnosis

import (
	"cmp"
	"slices"

	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// capture sets the groups of a signature's capture patterns; one that is not in the text stays unknown.
func capture(s *condition.Situation, of *signature.Signature, el *reading.Element) {
	groups := make(map[string]string)
	for _, p := range of.Capture {
		m := p.Submatch(el.Text)
		if group := p.Group(of.Largest); m != nil && group > 0 {
			m = largest(p.Regexp().FindAllStringSubmatch(el.Text, maxPlaces), group)
		}
		keep(groups, p, m)
	}
	if el.Exception != nil {
		captureCode(groups, of.Code, el.Exception)
	}
	for _, p := range of.Before {
		keep(groups, p, lastPlace(p, el.Before()))
	}
	for _, p := range of.CommandLine {
		keep(groups, p, lastPlace(p, s.Value(signature.CommandLineName).Member("text").String()))
	}
	for _, p := range of.FirstLines {
		keep(groups, p, p.Submatch(s.Value(signature.FirstLinesName).String()))
	}
	if of.Offers {
		groups[signature.Nearest] = nearest(groups[signature.Got], groups[signature.Allowed])
	}
	for name, value := range groups {
		if of.Role == signature.Message {
			value = closed(el.Text, value)
		}
		if value != "" {
			s.Set(name, condition.StringValue(value))
		}
	}
}

// captureCode adds what patterns find in the deepest source line, and what they find nowhere there, in the deepest line of the user's own code.
func captureCode(groups map[string]string, patterns []*pattern.Pattern, e *traceback.Exception) {
	for _, p := range patterns {
		keep(groups, p, p.Submatch(e.Marked()))
		keep(groups, p, p.Submatch(e.Code()))
	}
	user := e.UserFrame()
	if user == nil {
		return
	}
	for _, p := range patterns {
		keep(groups, p, p.Submatch(user.Code))
	}
}

// settle is a situation with the groups as nil that a signature's capture patterns did not find: a match can do without them, what is said of
// it cannot.
func settle(situation *condition.Situation, of *signature.Signature) *condition.Situation {
	settled := situation.Clone()
	for name := range of.Groups() {
		if !settled.Value(name).Known() {
			settled.Set(name, condition.Nil)
		}
	}
	return settled
}

// keep adds the groups of a pattern that found something, unless an earlier pattern did.
func keep(groups map[string]string, p *pattern.Pattern, found []string) {
	for i, name := range p.Names() {
		if found != nil && name != "" && found[i] != "" && groups[name] == "" {
			groups[name] = found[i]
		}
	}
}

// lastPlace is the last place of a text that a pattern matches, which is the nearest to what follows the text.
func lastPlace(p *pattern.Pattern, text string) []string {
	if !p.Possible(text) {
		return nil
	}
	places := p.Regexp().FindAllStringSubmatch(text, maxPlaces)
	if len(places) == 0 {
		return nil
	}
	return places[len(places)-1]
}

// maxPlaces bounds the places of a text that a pattern is looked for at.
const maxPlaces = 1000

// largest is the place with the largest size in a group, the first of several.
func largest(places [][]string, group int) []string {
	return slices.MaxFunc(places, func(a, b []string) int {
		x, _ := condition.Size(a[group])
		y, _ := condition.Size(b[group])
		return cmp.Compare(x, y)
	})
}
