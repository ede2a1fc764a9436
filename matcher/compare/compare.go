// Package compare tells what differs between a job that worked and one that failed: facts, arguments, and how far and how fast the steps
// went. What the failure's own signature asks about comes first. Two answers and what was read beside them go in, and a Difference comes
// out, whose JSON is a public contract.
package compare

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
)

// Schema names the version of the JSON form of a Difference.
const Schema = "triage.diff/v1"

// Side is one of the two: a job's logs, or the facts of a machine.
type Side struct {
	Name      string
	Answer    report.Report
	Arguments Arguments
	Steps     []Steps // of the sources that show some
}

// Steps are how far and how fast a source goes.
type Steps struct {
	Reached float64
	Seconds float64 // for a step; 0 when it is not known
}

// Difference is what differs.
type Difference struct {
	Schema  string   `json:"schema"`
	Good    string   `json:"good"`
	Bad     string   `json:"bad"`
	Failure *Failure `json:"failure"`      // of the bad one; null when none is known
	Same    bool     `json:"same_failure"` // the good one shows it too
	Differs []Item   `json:"differs"`      // the most telling first
	OneSide []Item   `json:"told_by_one"`  // what only one of them tells, which may be the same for both
	Equal   int      `json:"equal"`        // how many facts and arguments are the same
}

// Failure is what the bad one comes to.
type Failure struct {
	ID        string           `json:"id"`
	Title     string           `json:"title"`
	Certainty report.Certainty `json:"certainty"`
}

// Item is one thing that differs. A value is null where the thing is known to be absent.
type Item struct {
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`
	Good  any    `json:"good"`
	Bad   any    `json:"bad"`
	Asked bool   `json:"asked"`          // the failure's signature, or the backend rules that it goes by, ask about it
	Told  string `json:"told,omitempty"` // by "good" or "bad" where only one tells it
}

// Kind is what sort of thing an Item is.
type Kind string

// The kinds, in the order in which they are shown.
const (
	Version     Kind = "version"
	Machine     Kind = "machine"
	Environment Kind = "environment"
	Argument    Kind = "argument"
	Pace        Kind = "pace"
)

var kinds = []Kind{Version, Machine, Environment, Argument, Pace}

// Of compares two jobs.
func Of(base *rules.Base, good, bad Side) (Difference, error) {
	d := Difference{Schema: Schema, Good: good.Name, Bad: bad.Name, Differs: []Item{}, OneSide: []Item{}}
	var asked map[string]bool
	if len(bad.Answer.Diagnoses) > 0 {
		first := bad.Answer.Diagnoses[0]
		d.Failure = &Failure{ID: first.ID, Title: first.Title, Certainty: first.Certainty}
		d.Same = slices.ContainsFunc(good.Answer.Diagnoses, func(o report.Diagnosis) bool { return o.ID == first.ID })
		var err error
		if asked, err = asksAbout(base, first); err != nil {
			return d, err
		}
	}
	a, b := things(base, good), things(base, bad)
	for _, key := range slices.SortedFunc(maps.Keys(union(a, b)), byKind) {
		d.put(key, a, b, asked[key.name])
	}
	first := func(x, y Item) int { return cmp.Compare(rank(x.Asked), rank(y.Asked)) }
	slices.SortStableFunc(d.Differs, first)
	slices.SortStableFunc(d.OneSide, first)
	return d, nil
}

// put notes what two sides tell of one thing.
func (d *Difference) put(key thing, a, b map[thing]any, asked bool) {
	x, inGood := a[key]
	y, inBad := b[key]
	item := Item{Kind: key.kind, Name: key.name, Good: x, Bad: y, Asked: asked}
	switch {
	case inGood && inBad && agree(key.kind, x, y):
		d.Equal++
	case inGood && inBad:
		d.Differs = append(d.Differs, item)
	case inGood:
		item.Told = "good"
		d.OneSide = append(d.OneSide, item)
	default:
		item.Told = "bad"
		d.OneSide = append(d.OneSide, item)
	}
}

func rank(asked bool) int {
	if asked {
		return 0
	}
	return 1
}

// asksAbout are the names of the facts that a failure hangs on.
func asksAbout(base *rules.Base, d report.Diagnosis) (map[string]bool, error) {
	asked := make(map[string]bool)
	for _, f := range d.Facts {
		asked[f.Name] = true
	}
	for _, m := range d.Missing {
		asked[m.Name] = true
	}
	s := base.Signature(d.ID)
	if s == nil {
		return asked, nil
	}
	for _, c := range s.Confirm {
		for _, name := range c.Names() {
			asked[name] = true
		}
	}
	for _, name := range s.Ask {
		asked[name] = true
	}
	if s.Library == "" {
		return asked, nil
	}
	library, err := base.Library(s.Library)
	if err != nil || library == nil {
		return asked, err
	}
	for _, f := range library.Facts() {
		asked[f.Name] = true
	}
	return asked, nil
}

// thing is what can differ.
type thing struct {
	kind Kind
	name string
}

func byKind(a, b thing) int {
	return cmp.Or(cmp.Compare(slices.Index(kinds, a.kind), slices.Index(kinds, b.kind)), strings.Compare(a.name, b.name))
}

// ofOneProcess are facts that differ from process to process of one job.
var ofOneProcess = map[string]bool{"rank": true}

// things are what a side tells.
func things(base *rules.Base, s Side) map[thing]any {
	all := make(map[thing]any)
	for _, f := range s.Answer.Facts {
		if ofOneProcess[f.Name] {
			continue
		}
		kind := Machine
		if name, ok := strings.CutPrefix(f.Name, condition.Environment); ok && name != "" {
			kind = Environment
		} else if info, ok := base.Vocabulary.Fact(f.Name); ok && info.Type == condition.VersionType {
			kind = Version
		}
		all[thing{kind, f.Name}] = f.Value
	}
	for name, value := range s.Arguments.values {
		all[thing{Argument, name}] = report.Redact(value)
	}
	if len(s.Steps) == 0 {
		return all
	}
	most := slices.MaxFunc(s.Steps, func(a, b Steps) int { return cmp.Compare(a.Reached, b.Reached) })
	all[thing{Pace, "last step"}] = most.Reached
	if most.Seconds > 0 {
		all[thing{Pace, "seconds for a step"}] = math.Round(most.Seconds*1000) / 1000
	}
	if len(s.Steps) > 1 {
		all[thing{Pace, "logs with steps"}] = float64(len(s.Steps))
	}
	return all
}

func union(a, b map[thing]any) map[thing]bool {
	all := make(map[thing]bool)
	for key := range a {
		all[key] = true
	}
	for key := range b {
		all[key] = true
	}
	return all
}

// agree tells whether two values say the same: a shorter version does with a longer one that it begins, a number with another way to
// write it, and a time for a step with one that is not far from it.
func agree(kind Kind, a, b any) bool {
	x, y := written(a), written(b)
	if x == y {
		return true
	}
	if kind == Version {
		return a != nil && b != nil && (begins(x, y) || begins(y, x))
	}
	m, err := strconv.ParseFloat(x, 64)
	n, err2 := strconv.ParseFloat(y, 64)
	if err != nil || err2 != nil {
		return false
	}
	return m == n || kind == Pace && max(m, n) < 1.1*min(m, n)
}

func begins(long, short string) bool {
	rest, ok := strings.CutPrefix(long, short)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '+')
}

// written is a value as text.
func written(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(encoded)
}
