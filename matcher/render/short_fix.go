package render

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/gpu-triage/triage/matcher/report"
)

// bestFix are the rows of the first fix: five at least, and as many more as there is room for. All that is to do comes before a second
// command, and a first command is always told.
func (p *page) bestFix(fixes []report.Fix, room int) []string {
	if len(fixes) == 0 {
		return nil
	}
	const label = "fix: "
	commands := p.below(label, fixes[0])
	room = max(fixRows, room) - p.height(commands[:min(1, len(commands))])
	rows := p.beside(label, Line(fixes[0].Do), max(1, room))
	room -= len(rows)
	for i, command := range commands {
		if i > 0 {
			room -= p.height(commands[i : i+1])
		}
		if room < 0 && i > 0 {
			break
		}
		rows = append(rows, command)
	}
	return rows
}

// secondFix are the rows of what helps where the best fix does not, with those of its commands for which there is room.
func (p *page) secondFix(fixes []report.Fix) []string {
	if len(fixes) < 2 {
		return nil
	}
	const label = "or:  "
	commands := p.below(label, fixes[1])
	first := p.height(commands[:min(1, len(commands))])
	if first > secondRows/2 { // a long one leaves no room for what it is about
		commands, first = nil, 0
	}
	rows := p.beside(label, strings.TrimPrefix(Line(fixes[1].Do), "Or "), secondRows-first)
	for _, command := range commands {
		if p.height(append(slices.Clone(rows), command)) > secondRows {
			break
		}
		rows = append(rows, command)
	}
	return rows
}

// beside are the first rows of a text that stands beside a label.
func (p *page) beside(label, text string, most int) []string {
	rows := firstRows(text, p.width-2-len(label), most)
	for i := range rows {
		start := strings.Repeat(" ", len(label))
		if i == 0 {
			start = p.paint.good(label)
		}
		rows[i] = start + rows[i]
	}
	return rows
}

// below are the rows of the commands of a fix, as the whole answer has them, set in by the width of its label.
func (p *page) below(label string, fix report.Fix) []string {
	inner := &page{width: p.width, paint: p.paint}
	for _, c := range fix.Commands() {
		inner.commands(len(label), c)
	}
	return slices.DeleteFunc(strings.Split(inner.out.String(), "\n"), func(row string) bool { return row == "" })
}

// height is how many rows of a terminal such rows of the fix take. A command is never cut, so that it can be copied, and goes on below.
func (p *page) height(rows []string) int {
	n := 0
	for _, row := range rows {
		n += 1 + (1+ansi.StringWidth(row))/p.width
	}
	return n
}
