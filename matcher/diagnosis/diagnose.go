// Package diagnosis says what a job's logs come to. What was read of them goes through these steps, each a function of the ones before:
//
//	situation   what is known: facts of the user, the logs and the machine, and what follows from them
//	findings    the events that mean something in that situation, by the signatures that fit them (cause.go)
//	compared    among them those that no line states: where flight recorder dumps part, how steps go on over time (compared.go)
//	conclusion  which of the findings explains the others (root.go)
//	diagnoses   what is said of it: evidence, what to ask, what to do (words.go), and what a library's backend rules say (choice.go)
//	report      all that, with what the machine has otherwise than the log (contradiction.go), without secrets
//
// Nothing here changes what was read: the same reading can be asked again with other facts.
package diagnosis

import (
	"maps"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// Of gives the answer so far. Known are the facts that are not from the log; calling it again with others answers what would be
// otherwise. No secret of a log or a fact is in it.
func Of(read *reading.Result, known ...facts.Fact) report.Report {
	s := situationOf(read, known)
	c := conclude(read, s)
	answer := report.Report{
		Schema: report.Schema, Diagnoses: []report.Diagnosis{}, Stats: read.Stats,
		Facts: factValues(s.facts, slices.Sorted(maps.Keys(s.facts))),
	}
	answer.Notes = append(answer.Notes, read.NoLogs...)
	for _, changed := range s.changed {
		answer.Notes = append(answer.Notes, changed.note())
	}
	for _, m := range c.answers() {
		d, notes := diagnose(read, s, c, m)
		answer.Diagnoses = append(answer.Diagnoses, d)
		answer.Notes = append(answer.Notes, notes...)
	}
	if c.root != nil {
		answer.Diagnoses[0].Consequences = c.consequences()
	} else if note := unshown(read.Heads, s); note != "" {
		answer.Notes = append(answer.Notes, note)
	}
	answer.Ranks = c.rankStates(read, s)
	var decided []report.FactValue
	for _, d := range answer.Diagnoses {
		decided = append(decided, d.Facts...)
	}
	answer.Notes = slices.Concat(answer.Notes, c.before(), c.lasting(), c.meanwhile(decided))
	answer.Redact()
	return answer
}

// Ambiguities are sentences about signatures of which nothing but their names tells which of them is the root cause.
func Ambiguities(read *reading.Result, known ...facts.Fact) []string {
	c := conclude(read, situationOf(read, known))
	return c.ambiguities()
}

// Situation is that in which a signature fits what failed, nil when the answer has nothing of it.
func Situation(read *reading.Result, id string, known ...facts.Fact) *condition.Situation {
	c := conclude(read, situationOf(read, known))
	for _, m := range c.answers() {
		if m.signature.ID == id {
			return m.situation
		}
		for _, said := range inMessage(read.Base, c.root.element, m) {
			if said.signature.ID == id {
				return said.situation
			}
		}
	}
	return nil
}

// situation is what is known of a job.
type situation struct {
	facts      facts.Facts
	conditions *condition.Situation // the facts and what was found anywhere in the logs, as conditions see them
	changed    []contradiction      // since the job ran
	archive    *archive             // what releases of packages have
}

// situationOf is what the logs say, what else is known, and what follows from both.
func situationOf(read *reading.Result, known []facts.Fact) situation {
	all := allFacts(read, known)
	s := situation{facts: all, conditions: all.Situation(read.Base.Scope), changed: contradictions(known, read.Facts, read.Base.Vocabulary),
		archive: newArchive(read)}
	for _, name := range read.Base.Vocabulary.OtherwiseNone() {
		if _, known := all[name]; !known {
			s.conditions.Set(name, condition.Nil)
		}
	}
	s.conditions.Set(signature.CommandLineName, commandLines(read.Heads))
	s.conditions.Set(signature.FirstLinesName, firstLines(read.Heads))
	for i, line := range read.LogPatterns {
		s.conditions.SetLogPattern(i, line.Number > 0)
	}
	return s
}

// memoryGrowth is the fact that the steps tell more and more memory.
const memoryGrowth = "gpu_memory_growth"

func allFacts(read *reading.Result, known []facts.Fact) facts.Facts {
	all := make(facts.Facts)
	for _, f := range known {
		all.Add(f)
	}
	for _, f := range read.Facts {
		all.Add(f)
	}
	read.Xids.State(all, read.Base.Xids)
	if grown := pace.MemoryGrowth(read.Paces); grown != nil {
		all.Add(facts.Fact{Name: memoryGrowth, Value: condition.StringValue(grown.String()), Source: facts.FromLog, Where: grown.Where()})
	}
	all.Infer(read.Base.Vocabulary)
	return all
}

// diagnose puts what a match of the root says into words, with what the backend rules say where its signature asks them. The notes are
// about the whole report.
func diagnose(read *reading.Result, s situation, c conclusion, m match) (d report.Diagnosis, notes []string) {
	d = describe(read, s.facts, c, m)
	if library := m.signature.Library; library != "" {
		notes = addBackends(&d, read, s, m, c.root.element.Line.Process())
		notes = append(notes, today(read.Base, library, s)...)
	}
	notes = append(notes, withoutTried(&d, s.facts, read.Base.Vocabulary)...)
	d.Missing = slices.DeleteFunc(d.Missing, func(asked report.Missing) bool { // what is known is not asked for
		_, told := s.facts[asked.Name]
		return told
	})
	if len(d.Fixes) > 0 {
		d.Fixes[0].Do = standsFirst(d.Fixes[0].Do)
	}
	return d, notes
}

// otherwise begins a fix that stands behind another one in its file.
var otherwise = pattern.Lazy(`^(?:Or|Else),? (.)`)

// standsFirst is what a fix says when those before it are left out.
func standsFirst(do string) string {
	m := otherwise().FindStringSubmatch(do)
	if m == nil {
		return do
	}
	return strings.ToUpper(m[1]) + do[len(m[0]):]
}
