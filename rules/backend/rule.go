package backend

import (
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// rule takes variants out when all of `when` and not all of `requires` hold.
type rule struct {
	id       string
	index    int // in the library's rules
	filter   int // the stage of the library's choice that it belongs to
	when     ranged[[]*condition.Expression]
	requires ranged[[]*condition.Expression]
	off      ranged[targets]
	because  []reason
	message  ranged[string]                  // what the library prints, %s for values and {variant}
	values   []int                           // which facts (places) the values of the message are, -1 for none
	tells    ranged[map[int]condition.Value] // facts (places) that a log with the message states
	silent   ranged[map[int]condition.Value] // facts that a complete log without the message states
	source   ranged[string]
	example  map[int]condition.Value // facts under which it takes something out
	nearMiss map[int]condition.Value // and under which it does not
	ends     bool                    // where it fires, nothing else about the variants is worth telling
	raises   bool                    // where it fires, the library raises before it chooses
	place    rulefile.Problem
	reads    factSet // the facts of its conditions
}

// reason says why a rule takes something out, where its conditions hold.
type reason struct {
	when []*condition.Expression
	say  string
}

// targets are the variants that a rule takes out.
type targets struct {
	variants []int
	whole    bool // backends are named, not chosen variants
}

// Rule is a rule as it is told to people.
type Rule struct {
	ID      string   `json:"id"`
	Variant string   `json:"variant,omitempty"` // what it takes out, where the backend has several variants
	Because string   `json:"because"`
	Message string   `json:"message,omitempty"` // what the library prints, %s for values
	Source  string   `json:"source"`
	Needs   []string `json:"needs,omitempty"` // the conditions that would have to hold
}

// Rules describes every rule in the last release in which it holds, for showing the knowledge base.
func (l *Library) Rules() []Rule {
	var described []Rule
	for _, r := range l.rules {
		for release := len(l.releases) - 1; release >= 0; release-- {
			if _, holds := r.off.at(release); holds {
				described = append(described, r.describe(l, release))
				break
			}
		}
	}
	return described
}

// describe tells what a rule says in a release.
func (r *rule) describe(l *Library, release int) Rule {
	told := Rule{ID: r.id, Because: r.because[len(r.because)-1].say}
	if off, _ := r.off.at(release); !off.whole {
		var names []string
		for _, v := range off.variants {
			names = append(names, l.variants[v].name)
		}
		told.Variant = strings.Join(names, ", ")
	}
	message, _ := r.message.at(release)
	told.Message = strings.ReplaceAll(message, "{variant}", told.Variant)
	source, _ := r.source.at(release)
	told.Source = l.link(source)
	return told
}

// describeIn is describe with the values of a situation in the reason, and with what the situation would have to have.
func (r *rule) describeIn(s *situation) Rule {
	told := r.describe(s.library, s.release)
	told.Because = r.why(s)
	requires, _ := r.requires.at(s.release)
	for _, need := range requires {
		if !need.Eval(s.Situation).True() {
			told.Needs = append(told.Needs, strings.Join(strings.Fields(need.Source()), " "))
		}
	}
	return told
}

// why is the first reason that holds and can be told with what is known, else the last one, which holds always.
func (r *rule) why(s *situation) string {
	for _, one := range r.because {
		if text, complete := fill(one.say, s); complete && s.all(one.when) == on {
			return text
		}
	}
	return fillKnown(r.because[len(r.because)-1].say, s)
}

// fillKnown is fill without the clause in which the first value that is not known stands, and what follows it: "It takes sizes up to 256,
// not {head_size}." becomes "It takes sizes up to 256."
func fillKnown(text string, s *situation) string {
	filled, complete := fill(text, s)
	for end := 0; !complete && end < len(text); end++ {
		if text[end] != '}' {
			continue
		}
		if _, known := fill(text[:end+1], s); known {
			continue
		}
		if clause := strings.LastIndexAny(text[:end], ",;"); clause > 0 {
			filled, _ = fill(text[:clause]+".", s)
		}
		break
	}
	return filled
}

// fill puts the values of names into a text with {name}. Braces around anything else stay. Where a value is not known, the
// text is not complete.
func fill(text string, s *situation) (filled string, complete bool) {
	var out strings.Builder
	complete = true
	for {
		before, rest, ok := strings.Cut(text, "{")
		out.WriteString(before)
		if !ok {
			return out.String(), complete
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok || !s.library.scope.Has(name) {
			out.WriteByte('{')
			text = rest
			continue
		}
		value := s.Value(name)
		complete = complete && value.Known()
		out.WriteString(value.String())
		text = after
	}
}

// conditions are all conditions of the rule, of all releases.
func (r *rule) conditions() []*condition.Expression {
	var all []*condition.Expression
	for _, lists := range [][][]*condition.Expression{r.when.parts, r.requires.parts} {
		for _, list := range lists {
			all = append(all, list...)
		}
	}
	return all
}

// canTakeOut tells whether the rule takes a variant out in some release.
func (r *rule) canTakeOut(variant int) bool {
	for _, off := range r.off.parts {
		if contains(off.variants, variant) {
			return true
		}
	}
	return false
}

func contains(list []int, item int) bool {
	for _, i := range list {
		if i == item {
			return true
		}
	}
	return false
}
