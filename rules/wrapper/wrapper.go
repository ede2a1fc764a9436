// Package wrapper is the list of what launchers, schedulers, collectors and logging libraries put before a program's own words, as
// wrappers.yaml has it. Rows go in; forms come out, each with an expression and a cheap first look that is derived from it.
package wrapper

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/rulefile"
)

const (
	// Level is an expression of a severity in words.
	Level = `(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|SEVERE|EXCEPTION)`
	// Stamp is an expression of a date and a time as logging libraries print it.
	Stamp = `(?:\d{4}[-/]\d\d[-/]\d\d|\d\d/\d\d/\d{4}|\d\d[-/]\d\d)[ T_]\d\d:\d\d:\d\d(?:[.,:]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?`
	// Time stands in the form of a record for the time that it begins with: finding that without an expression is much faster.
	Time = `{time}`
)

// Table is the rows of a file, in its order.
type Table struct {
	Marks   []*Form // that tell by themselves whose line it is
	Records []*Form // with which a log record begins

	programs map[string]bool
}

// IsProgram tells whether a word is the name with which a program begins its own messages.
func (t *Table) IsProgram(word string) bool { return t.programs[word] }

// Form is one row.
type Form struct {
	Tool    string // that writes it
	Example string // a line that begins with it, and has nothing but the word "text" behind it
	Source  string // of its syntax: {time} stands in it as it is, all else is an expression
	Next    string // when not empty: what follows must begin with this
	Again   string // when not empty: each piece that was written brings it again, and such a line has this in it
	Ahead   bool   // something must follow

	look *look
}

// Starts tells whether a text of the form may begin with a byte.
func (f *Form) Starts(with byte) bool { return f.look.first[with] }

// Begins tells cheaply of most texts that they do not begin with the form: by their first two bytes.
func (f *Form) Begins(text string) bool { return f.look.begins(text) }

// Possible is Begins that looks for a literal, too, without which no text has the form.
func (f *Form) Possible(text string) bool {
	return f.look.begins(text) && strings.Contains(text, f.look.literal)
}

// Compile is an expression of a part of a form, at the beginning of a text.
func Compile(source string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.ReplaceAll(source, Time, Stamp) + `)`)
}

//go:embed wrappers.yaml
var shipped []byte

// Shipped is the list that comes with the program, read when it is first asked for. It panics when the list has a mistake.
var Shipped = sync.OnceValue(func() *Table {
	table, err := Read("rules/wrapper/wrappers.yaml", shipped)
	if err != nil {
		panic(err)
	}
	return table
})

// row is a form as it is written.
type row struct {
	Tool    rulefile.Text `yaml:"tool"`
	From    rulefile.Text `yaml:"source"`
	Example rulefile.Text `yaml:"example"`
	Form    rulefile.Text `yaml:"form"`
	Next    string        `yaml:"next"`
	Again   string        `yaml:"again"`
	Ahead   bool          `yaml:"ahead"`
}

// Read reads a list. The error is Problems: every mistake with its place.
func Read(file string, content []byte) (*Table, error) {
	d := &rulefile.Decoder{File: file}
	written, root := rulefile.Read[struct {
		Marks   []row `yaml:"marks"`
		Records []row `yaml:"records"`

		Programs []string `yaml:"programs"`
	}](d, content)
	table := &Table{programs: map[string]bool{}}
	for _, name := range written.Programs {
		table.programs[name] = true
	}
	if root != nil {
		table.Marks, table.Records = forms(d, written.Marks), forms(d, written.Records)
	}
	if len(d.Problems) > 0 {
		return nil, d.Problems
	}
	return table, nil
}

// forms are what rows say.
func forms(d *rulefile.Decoder, rows []row) []*Form {
	var all []*Form
	for i := range rows {
		r := &rows[i]
		if !r.complete(d) {
			continue
		}
		source := strings.NewReplacer(`{level}`, Level, `{stamp}`, Stamp).Replace(r.Form.Value)
		f := &Form{Tool: r.Tool.Value, Example: r.Example.Value, Source: source, Next: r.Next, Again: r.Again, Ahead: r.Ahead}
		f.look = lookOf(strings.ReplaceAll(source, Time, Stamp))
		all = append(all, f)
	}
	return all
}

// complete tells whether a row has all that one needs; what it lacks is a problem.
func (r *row) complete(d *rulefile.Decoder) bool {
	for _, key := range []struct {
		name string
		text rulefile.Text
	}{{"tool", r.Tool}, {"source", r.From}, {"example", r.Example}, {"form", r.Form}} {
		if key.text.Value == "" {
			d.Problem(r.Form.Line, r.Form.Column, "a wrapper needs a %s", key.name)
			return false
		}
	}
	return true
}

// Check reads the list that comes with the program with all that takes time: each expression is compiled and tried on its example. The
// error is Problems.
func Check(file string, content []byte) error {
	d := &rulefile.Decoder{File: file}
	written, _ := rulefile.Read[struct {
		Marks   []row `yaml:"marks"`
		Records []row `yaml:"records"`

		Programs []string `yaml:"programs"`
	}](d, content)
	for _, r := range append(written.Marks, written.Records...) {
		if r.complete(d) {
			r.try(d)
		}
	}
	if len(d.Problems) > 0 {
		return d.Problems
	}
	return nil
}

// CheckShipped is Check for the list that comes with the program.
func CheckShipped() error { return Check("rules/wrapper/wrappers.yaml", shipped) }

// try notes what is wrong with the form of a row.
func (r *row) try(d *rulefile.Decoder) {
	source := strings.NewReplacer(`{level}`, Level, `{stamp}`, Stamp, Time, Stamp).Replace(r.Form.Value)
	re, err := regexp.Compile(`^(?:` + source + `)`)
	switch {
	case err != nil:
		d.Problem(r.Form.Line, r.Form.Column, "%v", err)
	case !re.MatchString(r.Example.Value):
		d.Problem(r.Example.Line, r.Example.Column, "the form does not fit this example")
	case re.MatchString(""):
		d.Problem(r.Form.Line, r.Form.Column, "the form fits an empty line: it must ask for something")
	}
}
