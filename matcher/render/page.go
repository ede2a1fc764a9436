package render

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// How wide a page is, and how much of a line of a log it gets; the JSON form has all of it.
const (
	defaultWidth = 80
	narrowest    = 40
	widest       = 120
	quotedRows   = 8      // of one quoted line
	longestQuote = 20_000 // characters of one that is looked at
)

// A page collects lines of at most width columns.
type page struct {
	out   strings.Builder
	width int
	paint paint
}

func newPage(style Style) *page {
	width := style.Width
	if width <= 0 {
		width = defaultWidth
	}
	return &page{width: max(min(width, widest), narrowest), paint: paint{on: style.Color}}
}

// section writes a heading when n things follow it.
func (p *page) section(title string, n int) {
	if n > 0 {
		p.line(0, "")
		p.line(2, p.paint.heading(title))
	}
}

// table writes rows with their columns aligned.
func (p *page) table(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
			}
		}
		p.line(4, line.String())
	}
}

// command writes a shell command on lines of its own, never wrapped.
func (p *page) command(indent int, command string) {
	for row := range strings.SplitSeq(strings.TrimSpace(clean(command)), "\n") {
		if row != "" {
			p.line(indent, p.paint.command(row))
		}
	}
}

// prose writes the paragraphs of text, which blank lines part.
func (p *page) prose(indent int, text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(clean(text)), "\n\n") {
		if i > 0 {
			p.line(0, "")
		}
		for _, row := range wrap(paragraph, p.width-indent) {
			p.line(indent, row)
		}
	}
}

// hanging writes text behind label, its further rows below its first; below the label where there is little room behind it.
func (p *page) hanging(indent int, label, text string) {
	column := ansi.StringWidth(label)
	if p.width-indent-column < narrowest/2 {
		if strings.TrimSpace(label) != "" {
			p.line(indent, strings.TrimRight(label, " "))
		}
		column = min(column, 4)
		label = strings.Repeat(" ", column)
	}
	for i, row := range wrap(text, p.width-indent-column) {
		if i > 0 {
			label = strings.Repeat(" ", column)
		}
		p.line(indent, label+row)
	}
}

func (p *page) line(indent int, text string) {
	if text != "" {
		p.out.WriteString(strings.Repeat(" ", indent))
		p.out.WriteString(text)
	}
	p.out.WriteByte('\n')
}

// wrap breaks text at spaces into rows of at most width columns; a longer word gets a row of its own.
func wrap(text string, width int) []string {
	var rows []string
	row, used := "", 0
	for _, word := range strings.Fields(text) {
		size := ansi.StringWidth(word)
		if row != "" && used+1+size > width {
			rows, row, used = append(rows, row), "", 0
		}
		if row != "" {
			row, used = row+" ", used+1
		}
		row, used = row+word, used+size
	}
	if row != "" || len(rows) == 0 {
		rows = append(rows, row)
	}
	return rows
}

// quoted breaks a line of a log into rows, keeping its spaces, and leaves the middle of a very long one out.
func quoted(text string, width int) []string {
	text = strings.ReplaceAll(strings.TrimRight(clean(cut(text, longestQuote)), "\n\t "), "\t", "    ")
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		rows = append(rows, fold(line, max(width, 20))...)
	}
	if len(rows) > quotedRows {
		left := len(rows) - quotedRows + 1
		rows = append(append(rows[:quotedRows-2:quotedRows-2], fmt.Sprintf("… %d rows left out …", left)), rows[len(rows)-1])
	}
	return rows
}

// fold breaks a line at the last space of each row, or in a word that fills most of one.
func fold(line string, width int) []string {
	var rows []string
	for ansi.StringWidth(line) > width {
		row := ansi.Truncate(line, width, "")
		if space := strings.LastIndexByte(row, ' '); space > len(row)/2 {
			row = row[:space+1]
		}
		if row == "" {
			break
		}
		line = line[len(row):]
		rows = append(rows, strings.TrimRight(row, " "))
	}
	return append(rows, line)
}
