package rootline

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/tool"
)

// Finding is what failed, as far as the lines of a log tell by their form alone.
type Finding struct {
	Line  logline.Line   // the first that the failure itself printed
	Text  string         // that line, and those after it that belong to it
	Shows []logline.Line // that say more of it
	Tool  string         // that printed it; "" when no tool is known to print such a line
	Step  string         // of the CI job, as it names it
	From  int            // number of the first line of the step that failed
	End   int            // number of the line of the CI system's last word about that step; 0 when there is none
	Sure  bool           // the tool prints such a line only when it fails
	Last  string         // the last word of what had called the tool
	Told  bool           // a tool says that what it called failed, and that is no Python program, which has its own tracebacks
	Asked string         // what it is that somebody shows who asks about a failure, where nothing says that one ended a program; "" else
}

// Value is the finding as conditions see it.
func (f *Finding) Value() condition.Value {
	text := func(s string) condition.Value {
		if s == "" {
			return condition.Nil
		}
		return condition.StringValue(s)
	}
	return condition.ObjectValue(map[string]condition.Value{"tool": text(f.Tool), "step": text(f.Step), "last": text(f.Last), "asked": text(f.Asked)})
}

// Bounds of what is shown, and of what counts as printed together.
const (
	maxShows = 6   // lines beside the root line
	maxGap   = 60  // lines between two errors of one failure
	maxText  = 300 // bytes of a line that no row knows
	lastFew  = 4   // lines that are shown where no row knows one
)

// Find is what failed; nil when nothing says that something did.
func (f *Finder) Find(tail Tail) *Finding {
	r := f.read(tail)
	s := r.failed()
	if s == nil {
		return nil
	}
	found := &Finding{Step: s.name, From: s.from}
	if s.ended != nil {
		found.Last, found.End = s.ended.line.Text, s.ended.line.Number
	}
	group := group(s.marks)
	switch {
	case len(group) > 0:
		r.show(found, group, s)
	case s.ended == nil || !r.lastLines(found, s):
		return nil
	}
	return found
}

// group is the errors of the step that belong to its failure, the first of them first.
func group(marks []mark) []mark {
	for i, m := range marks {
		if m.row.Kind == tool.Stopped {
			return marks[i : i+1]
		}
	}
	open, last := open(marks)
	of := func(want func(mark) bool) []mark {
		return slices.DeleteFunc(slices.Clone(open), func(m mark) bool { return !want(m) })
	}
	sure := func(m mark) bool { return m.row.Kind == tool.Error }
	if last != nil {
		own := of(func(m mark) bool { return sure(m) && m.row.Tool == last })
		called := of(func(m mark) bool { return sure(m) && last.Explains(m.row.Tool) })
		for _, errors := range [][]mark{called, own} {
			if len(errors) > 0 {
				return errors
			}
		}
	}
	if errors := of(sure); len(errors) > 0 {
		return latest(errors)
	}
	if last != nil {
		own := of(func(m mark) bool { return m.row.Tool == last })
		if len(own) > 0 {
			return own
		}
	}
	if len(open) > 0 {
		return latest(open)
	}
	for _, m := range marks {
		if m.row.Kind == tool.Failed {
			return []mark{m}
		}
	}
	return nil
}

// open are the errors that no later word of their tool took back, and the tool that said last that it failed, nil when none did.
func open(marks []mark) (errors []mark, last *tool.Tool) {
	for _, m := range marks {
		switch m.row.Kind {
		case tool.Error, tool.Weak:
			errors = append(errors, m)
		case tool.Failed:
			last = m.row.Tool
		case tool.Passed:
			errors = slices.DeleteFunc(errors, func(e mark) bool {
				return e.row.Tool == m.row.Tool && e.row.Kind == tool.Weak || e.row.Tool.Class == anyClass
			})
		}
	}
	return errors, last
}

// follows tells whether an error of the shell is only how the program before it ended: it stands right behind that program's own error, as
// "Aborted" behind a failed assertion.
func follows(m, before mark) bool {
	return m.row.Tool.Class == shellClass && before.row.Tool.Class != shellClass && before.row.Kind == tool.Error &&
		m.line.Number-before.line.Number <= nearEndShell
}

// latest is the last run of errors that were printed together: a script that goes on after an error does so for more than a few lines.
func latest(errors []mark) []mark {
	for n := len(errors) - 1; n > 0 && follows(errors[n], errors[n-1]); n-- {
		errors = errors[:n]
	}
	first := len(errors) - 1
	for first > 0 && errors[first-1].row.Tool == errors[len(errors)-1].row.Tool && errors[first].line.Number-errors[first-1].line.Number <= maxGap {
		first--
	}
	return errors[first:]
}

// show fills in the lines that show the failure.
func (r *reading) show(found *Finding, group []mark, s *step) {
	root := group[0]
	found.Line, found.Tool, found.Sure = root.line, root.row.Tool.Name, root.row.Kind != tool.Weak
	if root.row.Tool.Class == anyClass {
		found.Tool = ""
	}
	found.Told = !slices.Contains(root.row.Tool.Runs, pythonClass) && slices.ContainsFunc(s.marks, func(m mark) bool { return m.row.Kind == tool.Failed })
	found.Text = root.line.Text
	if root.row.Kind == tool.Weak || root.row.Kind == tool.Hint { // what a logger says of itself is not the message
		found.Text = root.line.Body()
	}
	for i := 1; i <= root.row.Lines; i++ {
		r.more(found, r.index(root.line)+i, s)
	}
	for _, line := range found.Shows {
		found.Text += "\n" + line.Text
	}
	for _, m := range group[1:] {
		if len(found.Shows) < maxShows && m.line.Number > found.Line.Number+root.row.Lines {
			found.Shows = append(found.Shows, m.line)
		}
	}
	for _, m := range slices.Backward(s.marks) {
		if m.row.Kind == tool.Failed && m.line.Number > found.Line.Number {
			found.Shows = append(found.Shows, m.line)
			return
		}
	}
}

// more shows a line unless it is empty, or the CI system's own.
func (r *reading) more(found *Finding, i int, s *step) {
	if i >= len(r.lines) || s.ended != nil && r.tail.First+i >= s.ended.line.Number {
		return
	}
	if line := r.text(i); strings.TrimSpace(line.Text) != "" {
		found.Shows = append(found.Shows, line)
	}
}

// lastLines shows the last lines before the CI system's word. It tells whether there are any.
func (r *reading) lastLines(found *Finding, s *step) bool {
	var lines []logline.Line
	for i := r.index(s.ended.line) - 1; i >= max(0, r.index(s.ended.line)-maxGap) && r.tail.First+i > s.from && len(lines) < lastFew; i-- {
		line := r.text(i)
		if r.boundary(line) {
			break
		}
		if strings.TrimSpace(line.Text) != "" && !s.ignores(line) {
			line.Text = logline.ClipWord(line.Text, maxText)
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return false
	}
	found.Line, found.Text = lines[0], lines[0].Text
	slices.Reverse(lines[1:])
	found.Shows = lines[1:]
	return true
}

// ignores tells whether a line is known to say nothing of a failure.
func (s *step) ignores(line logline.Line) bool {
	return slices.ContainsFunc(s.marks, func(m mark) bool { return m.row.Kind == tool.Ignored && m.line.Number == line.Number })
}

// boundary tells whether a line ends the script of a step, so that what is before it is no output.
func (r *reading) boundary(line logline.Line) bool {
	return slices.ContainsFunc(r.rows, func(row *tool.Row) bool {
		return row.Kind == tool.Step && row.Until != nil && row.Until.Matches(line.Text)
	})
}
