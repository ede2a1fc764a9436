package rootline

import (
	"bytes"
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/tool"
)

// step is a step of a CI job, or the whole of a log that has none.
type step struct {
	name  string
	from  int // number of its first line
	marks []mark
	ended *mark // the CI system says that it failed
}

// steps parts the marks. A CI system's word that a step failed ends it.
func (r *reading) steps() []*step {
	now := &step{from: r.tail.First}
	all := []*step{now}
	begin := func(name string, from int) {
		now = &step{name: name, from: from}
		all = append(all, now)
	}
	for i := range r.marks {
		m := &r.marks[i]
		switch {
		case m.row.Kind == tool.Step:
			begin(m.name, m.line.Number)
		case m.row.Kind == tool.Ended && now.ended == nil && (len(now.marks) > 0 || now.name != "" || len(all) == 1):
			now.ended = m
		case m.row.Kind == tool.Ended: // said again
		case now.ended != nil:
			begin("", m.line.Number)
			now.marks = append(now.marks, *m)
		default:
			now.marks = append(now.marks, *m)
		}
	}
	return all
}

// stopped tells whether the CI system itself says that it stopped the step.
func (s *step) stopped() bool {
	return slices.ContainsFunc(s.marks, func(m mark) bool { return m.row.Kind == tool.Stopped && m.row.Tool.Class == ciClass })
}

// weight tells how much the step has to say of why it failed: commands of the shell, and words that all programs print, say little.
func (s *step) weight() int {
	most := 0
	for _, m := range s.marks {
		switch {
		case m.row.Kind == tool.Stopped:
			return 3
		case m.row.Kind == tool.Failed, m.row.Kind == tool.Error && m.row.Tool.Class != shellClass:
			most = 2
		case m.row.Kind == tool.Error, m.row.Kind == tool.Weak:
			most = max(most, 1)
		}
	}
	return most
}

// Classes of tools whose errors weigh less than those of others.
const (
	ciClass     = "ci"     // CI systems
	anyClass    = "any"    // the rows that know no tool
	shellClass  = "shell"  // the shell and its small commands
	pythonClass = "python" // Python and its libraries
	hostClass   = "host"   // what may befall any program
)

// How near to its end a log without a CI system's word must say that something failed: what ends a program is printed last.
const (
	nearEnd      = 200 // lines after the last word of a tool
	nearEndError = 40  // lines after an error
	maxExcerpt   = 40  // lines of a log that somebody cut out round its last word
	nearEndShell = 5   // lines after an error of the shell, or after a program was stopped: scripts go on, and jobs begin again
)

// failed is the step that failed, or nil. A job may go on after one that is allowed to fail, and cleans up after one that is not: of steps
// that failed, the last counts of those that say most.
func (r *reading) failed() *step {
	all := r.steps()
	var chosen *step
	for _, s := range all {
		if s.ended != nil && (chosen == nil || s.weight() >= chosen.weight()) {
			chosen = s
		}
	}
	for _, s := range all { // one that the CI system itself stopped has no other last word
		if s.stopped() && (chosen == nil || chosen.weight() < s.weight()) {
			chosen = s
		}
	}
	if chosen != nil || r.has(tool.Succeeded) || r.has(tool.Ended) {
		return chosen
	}
	last := all[len(all)-1]
	if len(all) > 1 || !r.failedAtEnd(last) {
		return nil
	}
	return last
}

func (r *reading) has(kind tool.Kind) bool {
	return slices.ContainsFunc(r.marks, func(m mark) bool { return m.row.Kind == kind })
}

// failedAtEnd tells whether a log that no CI system wrote ends with a failure.
func (r *reading) failedAtEnd(s *step) bool {
	for _, m := range slices.Backward(s.marks) {
		after := len(r.lines) - 1 - r.index(m.line)
		switch m.row.Kind {
		case tool.Passed:
			return false
		case tool.Failed:
			return after <= nearEnd
		case tool.Stopped:
			return after <= nearEndShell
		case tool.Error:
			switch m.row.Tool.Class {
			case shellClass:
				return after <= nearEndShell
			case pythonClass, hostClass: // where nobody says that the program failed, its tracebacks and the signatures tell
				continue
			}
			return after <= nearEndError
		case tool.Weak:
			if m.row.Ends && (len(r.lines) <= maxExcerpt || r.tail.Form.AsksHelp()) && r.isLast(m) {
				return true
			}
		}
	}
	return false
}

// maxAdvice is how many lines of a post may follow in the same paragraph: what the program advises, or what a person says of it.
const maxAdvice = 3

// isLast tells whether nothing but blank and indented lines follow a mark that its logger does not call harmless. A word that many programs
// print also where they get over it is what a program ended with when it is the last of a few lines that somebody shows: of what a post has in
// it, those up to the end of the code or the paragraph.
func (r *reading) isLast(m mark) bool {
	switch m.line.Level {
	case logline.Debug, logline.Info, logline.Warning:
		return false
	}
	if logline.GoesOn(m.line.Text) || logline.OfLibrary(m.line.Text) {
		return false
	}
	for i, line := range r.lines[r.index(m.line)+1:] {
		text := bytes.TrimSpace(line)
		if r.tail.Form.IsPost() {
			if len(text) == 0 || string(text) == logline.Fence {
				return true
			}
			if i < maxAdvice {
				continue
			}
		}
		if len(text) > 0 && !bytes.HasPrefix(line, []byte("  ")) && line[0] != '\t' {
			return false
		}
	}
	return true
}
