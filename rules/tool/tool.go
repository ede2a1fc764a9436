// Package tool is the table of tools.yaml: how compilers, test runners, package managers, schedulers and CI systems say that they failed.
// A line goes in, without its wrappers; what it is to the failure of its tool comes out.
package tool

import (
	"slices"
	"sync"

	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// File is the one file of a knowledge base that holds the table.
const File = "tools.yaml"

// Kind is what a line is to the failure of a tool.
type Kind string

// The kinds, in the order in which the rows of a tool are asked.
const (
	Step      Kind = "step"      // a CI system begins a step
	Ignored   Kind = "ignored"   // looks like an error, and is none
	Ended     Kind = "ended"     // a CI system's last word: it failed
	Stopped   Kind = "stopped"   // what ended the program from outside
	Succeeded Kind = "succeeded" // a CI system's last word: all went well
	Failed    Kind = "failed"    // the tool's last word: something before it failed
	Passed    Kind = "passed"    // the tool's last word: all went well
	Error     Kind = "error"     // says what is wrong
	Weak      Kind = "weak"      // may say what is wrong: many programs print that and go on
	Hint      Kind = "hint"      // warns of something: it counts only where somebody asks about a failure and shows nothing better
)

// Tool is a tool, or a family of tools that fail alike.
type Tool struct {
	Name  string
	Class string   // what kind of tool it is
	Runs  []string // the classes of the tools that it calls
}

// Explains tells whether the tool's last word may be about an error of another: of its own, or of a tool that it calls.
func (t *Tool) Explains(other *Tool) bool { return t == other || slices.Contains(t.Runs, other.Class) }

// Row is one way in which a tool says something.
type Row struct {
	Tool    *Tool
	Kind    Kind
	Lines   int  // how many lines after it tell more
	Ends    bool // as the last of a few lines it is what a program ended with
	Example string
	Pattern *pattern.Pattern
	Until   *pattern.Pattern // the line that ends what a Step prints of itself; nil when it prints nothing

	place rulefile.Text // of the pattern
}

// Name is what the row's pattern calls the step that a line begins, "" when it has no name.
func (r *Row) Name(text string) string {
	group := r.Pattern.Group("name")
	m := r.Pattern.Submatch(text)
	if group < 0 || m == nil {
		return ""
	}
	return m[group]
}

// Table is all rows. A nil table knows none.
type Table struct{ rows func() []*Row }

// Rows are the rows of all tools, in the order in which they are asked.
func (t *Table) Rows() []*Row {
	if t == nil {
		return nil
	}
	return t.rows()
}

// Read reads the table, and tries each pattern on its example.
func Read(d *rulefile.Decoder, content []byte) *Table {
	d.File = File
	rows := parse(d, content)
	for _, r := range rows {
		if !r.Pattern.Matches(r.Example) {
			d.Problem(r.place.Line, r.place.Column, "the pattern does not match its example %q", r.Example)
		}
	}
	return &Table{rows: func() []*Row { return rows }}
}

// Before is a table whose rows are asked before those of another.
func (t *Table) Before(other *Table) *Table {
	return &Table{rows: sync.OnceValue(func() []*Row { return slices.Concat(t.Rows(), other.Rows()) })}
}

// Later leaves the reading of a table that has no mistakes to the first question: few logs ask for it.
func Later(content []byte) *Table {
	return &Table{rows: sync.OnceValue(func() []*Row { return parse(&rulefile.Decoder{}, content) })}
}

type tableFile struct {
	Tools []toolEntry `yaml:"tools"`
}

// toolEntry is the form of a tool in tools.yaml.
type toolEntry struct {
	Tool      rulefile.Text `yaml:"tool"`
	Class     rulefile.Text `yaml:"class"`
	Source    string        `yaml:"source"`
	Runs      []string      `yaml:"runs"`
	Step      []rowEntry    `yaml:"step"`
	Ignored   []rowEntry    `yaml:"ignored"`
	Stopped   []rowEntry    `yaml:"stopped"`
	Ended     []rowEntry    `yaml:"ended"`
	Succeeded []rowEntry    `yaml:"succeeded"`
	Failed    []rowEntry    `yaml:"failed"`
	Passed    []rowEntry    `yaml:"passed"`
	Error     []rowEntry    `yaml:"error"`
	Weak      []rowEntry    `yaml:"weak"`
	Hint      []rowEntry    `yaml:"hint"`
}

type rowEntry struct {
	Pattern rulefile.Text `yaml:"pattern"`
	Until   rulefile.Text `yaml:"until"`
	Lines   int           `yaml:"lines"`
	Ends    bool          `yaml:"ends"`
	Example rulefile.Text `yaml:"example"`
}

// maxLines bounds the lines that belong to one error.
const maxLines = 10

func parse(d *rulefile.Decoder, content []byte) []*Row {
	file, _ := rulefile.Read[tableFile](d, content)
	var rows []*Row
	for i := range file.Tools {
		e := &file.Tools[i]
		if e.Tool.Value == "" || e.Class.Value == "" || e.Source == "" {
			d.Problem(e.Tool.Line, e.Tool.Column, "a tool needs tool:, class: and source:")
		}
		t := &Tool{Name: e.Tool.Value, Class: e.Class.Value, Runs: e.Runs}
		for _, kind := range []struct {
			Kind
			rows []rowEntry
		}{
			{Step, e.Step}, {Ignored, e.Ignored}, {Ended, e.Ended}, {Stopped, e.Stopped}, {Succeeded, e.Succeeded},
			{Failed, e.Failed}, {Passed, e.Passed}, {Error, e.Error}, {Weak, e.Weak}, {Hint, e.Hint},
		} {
			for _, entry := range kind.rows {
				if row := newRow(d, t, kind.Kind, entry); row != nil {
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

// newRow reads a row; nil means that a problem was noted.
func newRow(d *rulefile.Decoder, t *Tool, kind Kind, e rowEntry) *Row {
	r := &Row{Tool: t, Kind: kind, Lines: e.Lines, Ends: e.Ends, Example: e.Example.Value, Pattern: compile(d, e.Pattern), place: e.Pattern}
	if e.Until.Value != "" {
		r.Until = compile(d, e.Until)
	}
	if r.Pattern == nil {
		return nil
	}
	if e.Lines < 0 || e.Lines > maxLines {
		d.Problem(e.Pattern.Line, e.Pattern.Column, "lines: is between 0 and %d", maxLines)
	}
	return r
}

func compile(d *rulefile.Decoder, t rulefile.Text) *pattern.Pattern {
	p, err := pattern.New(t.Value)
	if err != nil || t.Value == "" {
		d.Problem(t.Line, t.Column, "a row needs a pattern that is a regular expression: %v", err)
		return nil
	}
	return p
}
