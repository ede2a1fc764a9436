package prefilter

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/scan"
)

// Bounds of what is worked out of a pattern.
const (
	maxChoices = 32  // literals that stand for a part of it
	maxClass   = 16  // characters of a class that are tried one by one
	maxText    = 256 // bytes of a literal
)

// choices is a set of literals of which a text has one. It is never empty; the empty literal says that nothing is known.
type choices []scan.Literal

func anything() choices { return choices{{}} }

// with adds a literal to a set that is being made. Sets are so small that looking through them is fast.
func (set choices) with(l scan.Literal) choices {
	if slices.Contains(set, l) {
		return set
	}
	return append(set, l)
}

// anyShorter tells whether one of the literals has fewer bytes.
func (set choices) anyShorter(bytes int) bool {
	return slices.ContainsFunc(set, func(l scan.Literal) bool { return len(l.Text) < bytes })
}

func union(a, b choices) choices {
	all := append(make(choices, 0, len(a)+len(b)), a...)
	for _, l := range b {
		all = all.with(l)
	}
	return all
}

// product is every text of a followed by every text of b, unless those are too many or too long.
func product(a, b choices) (choices, bool) {
	if len(a)*len(b) > maxChoices {
		return nil, false
	}
	all := make(choices, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			l := scan.Literal{Text: x.Text + y.Text, Fold: x.Fold || y.Fold}
			if len(l.Text) > maxText {
				return nil, false
			}
			if l.Fold {
				l = l.Folded()
			}
			all = all.with(l)
		}
	}
	return all, true
}

// rarer is the set of which an ordinary log has less.
func rarer(a, b choices) choices {
	if scan.Cost(b) < scan.Cost(a) {
		return b
	}
	return a
}

// shortest lists the set without the literals that contain another of it.
func (set choices) shortest() []scan.Literal {
	var all []scan.Literal
	for _, l := range set {
		needless := false
		for _, other := range set {
			needless = needless || other != l && (other.Fold || !l.Fold) && other.In(l.Text)
		}
		if !needless {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b scan.Literal) int { return strings.Compare(a.String(), b.String()) })
	return all
}
