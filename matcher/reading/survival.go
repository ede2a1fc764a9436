package reading

import (
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/signature"
)

// survival knows whether the job went on after something that happened. What was read is ordered by numbers, its order, that grow from line
// to line and from source to source.
type survival struct {
	sources   map[string]*sourceProgress // by name
	processes map[string]*process        // with events
	lines     int                        // of the sources that were read to their end
}

// sourceProgress is how far a source has been read, and whether its job went on after what happened in it.
type sourceProgress struct {
	lines    int
	watching bool           // something happened that may turn out to have been survived
	steps    map[string]int // how often each writer showed progress since
	resolved int            // when a writer had shown so much progress that all before it was survived
	reported int            // what was raised before was only reported: steps went on after it, and the work was done
	commands []int          // the lines at which a shell was given another command after something happened, in order
	asked    bool           // a person wrote it to ask about a failure: what follows that is no sign that a program went on
}

// process is a writer whose lines can be told from those of others, and that something happened to.
type process struct {
	source   string
	failed   int // when its last event was
	progress int // when it made progress after an event
	stepped  int // up to when its steps show that it went on
}

const (
	// enoughSteps is how often one process shows progress before another's failure counts as survived. Ranks that wait for a dead one
	// get no farther than the next collective, but what they printed before may come late.
	enoughSteps = 20

	maxSteppers  = 20000 // processes of a source whose steps are counted
	maxProcesses = 20000 // with events
	maxCommands  = 1000  // of a source that are counted
)

func newSurvival() survival {
	return survival{sources: make(map[string]*sourceProgress), processes: make(map[string]*process)}
}

// in is what is known of the source with a name.
func (s *survival) in(source string) *sourceProgress {
	known := s.sources[source]
	if known == nil {
		known = &sourceProgress{steps: make(map[string]int)}
		s.sources[source] = known
	}
	return known
}

// ended notes that a source was read to its end.
func (s *survival) ended(source *sourceProgress) { s.lines += source.lines }

// partBits are the bits of an order that tell the parts of one line.
const partBits = 10

// order tells of two lines which is the earlier one.
func (s *survival) order(line logline.Line) int {
	return (s.lines+line.Number)<<partBits | min(line.Part, 1<<partBits-1)
}

// occurrence is that of something that a line shows now.
func (s *survival) occurrence(line logline.Line) Occurrence {
	line.Text = ""
	return Occurrence{Order: s.order(line), Line: line, writer: line.Process()}
}

// failed notes that something happened that may turn out to have been survived.
func (s *survival) failed(line logline.Line) {
	key := line.Process()
	p := s.processes[key]
	if p == nil {
		if len(s.processes) >= maxProcesses {
			clear(s.processes)
		}
		p = &process{source: line.Source}
		s.processes[key] = p
	}
	p.failed = max(p.failed, s.order(line))
	source := s.in(line.Source)
	source.watching = true
	clear(source.steps)
}

// shown notes what a line shows of how the run goes on, if anything.
func (s *survival) shown(what signature.Role, line logline.Line) {
	switch what {
	case signature.Progress:
		s.progressed(line)
	case signature.Command:
		s.commanded(line)
	}
}

// commanded notes that a line shows a shell that is given another command. The last lines of a source are read twice.
func (s *survival) commanded(line logline.Line) {
	source := s.in(line.Source)
	at, known := slices.BinarySearch(source.commands, line.Number)
	if !known && len(source.commands) < maxCommands {
		source.commands = slices.Insert(source.commands, at, line.Number)
	}
}

// command counts the commands that a shell was given before a line, since the first thing that happened in its source.
func (s *survival) command(line logline.Line) int {
	source := s.sources[line.Source]
	if source == nil {
		return 0
	}
	before, _ := slices.BinarySearch(source.commands, line.Number)
	return before
}

// progressed notes that a line shows progress.
func (s *survival) progressed(line logline.Line) {
	source := s.in(line.Source)
	if p := s.processes[line.Process()]; p != nil {
		p.progress = s.order(line)
	}
	if _, known := source.steps[line.Writer]; !known && len(source.steps) >= maxSteppers {
		return
	}
	source.steps[line.Writer]++
	if source.steps[line.Writer] == enoughSteps {
		source.resolved, source.watching = s.order(line), false
		clear(source.steps)
	}
}

// stepped notes lines up to which the processes of a source surely went on, as its steps show. Done tells that the work was done at the end:
// whatever any process raised before such a line, it only reported it. Steps say nothing of what lines tell, such as a loss that is no
// number.
func (s *survival) stepped(lines []logline.Line, done bool) {
	for _, line := range lines {
		if p := s.processes[line.Process()]; p != nil {
			p.stepped = max(p.stepped, s.order(line))
		}
		if source := s.in(line.Source); done {
			source.reported = max(source.reported, s.order(line))
		}
	}
}

// wentOn tells whether the job went on after something: its process made progress, or another one made much.
func (s *survival) wentOn(o Occurrence) bool {
	if source := s.sources[o.Line.Source]; source != nil && (source.resolved > o.Order || o.raised && source.reported > o.Order) {
		return true
	}
	p := s.processes[o.writer]
	return p != nil && (p.progress > o.Order || o.raised && p.stepped > o.Order)
}

// failures are when something happened last to each process, by source and in order.
func (s *survival) failures() map[string][]int {
	all := make(map[string][]int)
	for _, p := range s.processes {
		all[p.source] = append(all[p.source], p.failed)
	}
	for _, orders := range all {
		slices.Sort(orders)
	}
	return all
}

// linesAfter is how many lines of the source that tell that it went on came after something, shared among the processes that something happened to later.
func (s *survival) linesAfter(o Occurrence, failures map[string][]int) int {
	source := s.sources[o.Line.Source]
	if source == nil || source.asked {
		return 0
	}
	orders := failures[o.Line.Source]
	before, _ := slices.BinarySearch(orders, o.Order+1)
	return (source.lines - o.Line.Number) / (1 + len(orders) - before)
}
