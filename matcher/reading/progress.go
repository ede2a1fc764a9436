package reading

import (
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
)

// sourceState is how far a source has been read, and whether its job went on after what happened in it.
type sourceState struct {
	lines    int
	watching bool           // something happened that may turn out to have been survived
	steps    map[string]int // how often each writer showed progress since
	resolved int            // when a writer had shown so much progress that all before it was survived
}

const (
	// enoughSteps is how often one process shows progress before another's failure counts as survived. Ranks that wait for a dead one
	// get no farther than the next collective, but what they printed before may come late.
	enoughSteps = 20
	maxSteppers = 20000 // processes whose steps are counted
)

// state is that of the source with a name.
func (r *Reading) state(source string) *sourceState {
	s := r.sources[source]
	if s == nil {
		s = &sourceState{steps: make(map[string]int)}
		r.sources[source] = s
	}
	return s
}

func (s *sourceState) watch() {
	s.watching = true
	clear(s.steps)
}

// watches tells whether it matters that a line shows progress.
func (r *Reading) watches(line logline.Line) bool {
	s := r.sources[line.Source]
	return s != nil && s.watching
}

// progressed notes that a line shows progress.
func (r *Reading) progressed(line logline.Line) {
	s := r.state(line.Source)
	if p := r.processes[line.Process()]; p != nil {
		p.progress = r.order(line)
	}
	if _, known := s.steps[line.Writer]; !known && len(s.steps) >= maxSteppers {
		return
	}
	if s.steps[line.Writer]++; s.steps[line.Writer] == enoughSteps {
		s.resolved, s.watching = r.order(line), false
		clear(s.steps)
	}
}

// wentOn tells whether the job went on after something: its process made progress, or another one made much.
func (r *Reading) WentOn(o Occurrence) bool {
	if s := r.sources[o.Line.Source]; s != nil && s.resolved > o.Order {
		return true
	}
	p := r.processes[o.writer]
	return p != nil && p.progress > o.Order
}

// failures are when something happened last to each process, by source and in order.
func (r *Reading) Failures() map[string][]int {
	all := make(map[string][]int)
	for _, p := range r.processes {
		all[p.source] = append(all[p.source], p.failed)
	}
	for _, orders := range all {
		slices.Sort(orders)
	}
	return all
}

// linesAfter is how many lines of the source came after something, shared among the processes that something happened to later: each
// of those prints much about its end.
func (r *Reading) LinesAfter(o Occurrence, failures map[string][]int) int {
	s := r.sources[o.Line.Source]
	if s == nil {
		return 0
	}
	orders := failures[o.Line.Source]
	before, _ := slices.BinarySearch(orders, o.Order+1)
	return (s.lines - o.Line.Number) / (1 + len(orders) - before)
}

// before is what the writer of a line printed before it.
func (r *Reading) before(line logline.Line) string {
	if r.history == nil {
		return ""
	}
	return r.history.before(line)
}
