package reading

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/rootline"
	"github.com/gpu-triage/triage/rules"
)

// Result is what the logs that were read so far show. It is not to be changed, and holds until more is read.
type Result struct {
	Base          *rules.Base
	Events        []*Event              // in the order in which they were first seen
	Facts         map[string]facts.Fact // that the logs state
	Told          []facts.Told          // those of them that the authors of posts have found out, with their sentences
	SelectionLogs facts.SelectionLogs
	Xids          *facts.Xids
	LogPatterns   []logline.Line  // by the number of a pattern that conditions look for: the first line that matches, with number 0 when none does
	Paces         []*pace.Pace    // of the sources that show steps
	Standstill    pace.Standstill // of the job, as whoever watched it saw it
	Dumps         []*flight.Dump  // of NCCL's flight recorder
	Collectives   []Collective    // what watchdogs print of the collectives of their ranks
	Stats         report.Stats
	Prose         []logline.Sentence // of the first post: what a person wrote, and no program printed
	NoLogs        []string           // sentences about the sources that are no logs, of which nothing is in Events
	Heads         []Head             // the first lines of the first sources

	tails     tails
	machine   map[string]bool // sources, by name
	originals originals
	survival  *survival
	failures  map[string][]int // when something happened last to each process, by source and in order
}

// Head is the first lines of a source, where people write what they ask about.
type Head struct {
	Text   string
	Asking bool // a person wrote it, with what was printed in it
}

// Result is what the logs that were read so far show.
func (r *Reading) Result() *Result {
	s := &r.statements
	return &Result{
		Base:   r.base,
		Events: slices.SortedFunc(maps.Values(r.events), func(a, b *Event) int { return cmp.Compare(a.Number, b.Number) }),
		NoLogs: r.noLogs, Heads: r.heads, Prose: s.prose,
		Facts: s.facts.Stated(), Told: s.told, SelectionLogs: s.selectionLogs, Xids: &s.xids, LogPatterns: s.patterns,
		Paces: r.pace.all, Standstill: r.standstill, Dumps: r.dumps, Collectives: r.collectives.all, Stats: r.stats, tails: r.tails, machine: r.machine,
		originals: r.originals, survival: &r.survival, failures: r.survival.failures(),
	}
}

// Occurrence is that of something that a line shows after all that was read.
func (r *Result) Occurrence(line logline.Line) Occurrence { return r.survival.occurrence(line) }

// OfMachine tells whether a source is no log of the job but what the machine said while it ran.
func (r *Result) OfMachine(source string) bool { return r.machine[source] }

// RootLine is what failed as far as the form of the last lines of the sources tells, whether a signature knows it or not; nil when they say
// of nothing that it failed.
func (r *Result) RootLine() *rootline.Finding { return r.tails.rootLine() }

// Asked is the line that tells what somebody asks about who shows no failure of a program; nil when there is none.
func (r *Result) Asked() *rootline.Finding { return r.tails.asked() }

// WentOn tells whether the job went on after something: its process made progress, or another one made much.
func (r *Result) WentOn(o Occurrence) bool { return r.survival.wentOn(o) }

// AsksHelp tells whether a person wrote a source to ask about a failure, with what was printed in it.
func (r *Result) AsksHelp(source string) bool { return r.survival.in(source).asked }

// Command tells by which command of a shell a line was printed: of two lines of one source, that with the higher number was printed by
// another program, later. It is 0 where the source shows no commands.
func (r *Result) Command(line logline.Line) int { return r.survival.command(line) }

// LinesAfter is how many lines of the source came after something, shared among the processes that something happened to later: each
// of those prints much about its end.
func (r *Result) LinesAfter(o Occurrence) int { return r.survival.linesAfter(o, r.failures) }
