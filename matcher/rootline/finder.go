// Package rootline finds the line that matters in a log of a build, a test run or a CI job: the first that the failure itself printed, and
// not the last word of what had called the failing program. It knows no failures: how tools print their errors is the table of rules/tool.
//
// The last lines of a source go in. Each is told what it is to the failure of some tool, if anything (finder.go). The lines are parted
// into the steps of the CI system, the one that failed is chosen (step.go), and in it the errors that the last words in it are about
// (root.go). Where nothing failed by these and somebody asks about a failure, it is the line that says most of it (asked.go).
package rootline

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/tool"
)

// Finder finds root lines. It does not change and may be shared.
type Finder struct {
	rows     []*tool.Row
	words    *prefilter.Keywords // of the rows that have some
	of       []int               // the row of a word
	wordless []int               // rows that may match a line without any word
}

// New prepares to look for what a table knows.
func New(table *tool.Table) *Finder {
	f := &Finder{rows: table.Rows()}
	var words []scan.Literal
	for i, row := range f.rows {
		required := prefilter.Required(row.Pattern.String())
		if len(required) == 0 {
			f.wordless = append(f.wordless, i)
		}
		for _, word := range required {
			words, f.of = append(words, word), append(f.of, i)
		}
	}
	f.words = prefilter.NewKeywords(words)
	return f
}

// Tail is the last lines of a source.
type Tail struct {
	Form  *logline.Form
	First int    // number of the first line
	Data  []byte // from the beginning of a line to the end of the source

	// Known tells what signatures say of a line: that it is harmless, or that the program makes progress.
	Known func(logline.Line) (harmless, progress bool)
}

// mark is a line that a row of the table knows.
type mark struct {
	line logline.Line
	row  *tool.Row
	name string // of the step that it begins
}

// Bounds of what is looked at: enough for the errors of a large build, and little enough for a log in which every line is one.
const (
	maxMarks  = 20000
	maxScript = 1000 // lines of the script that a step prints before it runs
)

// reading is the lines of a tail and the marks among them, in order.
type reading struct {
	*Finder
	tail  Tail
	lines [][]byte
	marks []mark
}

func (f *Finder) read(tail Tail) *reading {
	r := f.open(tail)
	for i := 0; i < len(r.lines) && len(r.marks) < maxMarks; i++ {
		known := len(r.marks)
		r.line(i)
		if len(r.marks) > known {
			i = r.afterScript(i, r.marks[len(r.marks)-1].row)
		}
	}
	return r
}

func (f *Finder) open(tail Tail) *reading {
	return &reading{Finder: f, tail: tail, lines: bytes.Split(bytes.TrimSuffix(tail.Data, []byte{'\n'}), []byte{'\n'})}
}

// line adds the marks in a line.
func (r *reading) line(i int) {
	raw := r.lines[i]
	if !mayBeLogged(raw) && len(r.possible(string(raw))) == 0 {
		return
	}
	r.clean(i, func(line logline.Line) {
		if r.tail.Form.IsPost() && (logline.Spoken(line.Text) || line.Number == 1 && logline.AboutError(line.Text)) {
			return
		}
		row, logged := r.rowOf(line)
		switch {
		case row != nil && row.Kind == tool.Hint && !logged:
		case logged && (row == nil || row.Kind == tool.Hint || row.Kind == tool.Weak && !row.Ends):
			r.marks = append(r.marks, mark{line: line, row: record})
		case row != nil:
			r.marks = append(r.marks, mark{line, row, row.Name(line.Text)})
		}
	})
}

// rowOf is the first row that fits a line, nil when none does, and whether its logger calls it an error.
func (f *Finder) rowOf(line logline.Line) (row *tool.Row, logged bool) {
	logged = (line.Level == logline.Error || line.Level == logline.Fatal) && !relayed().MatchString(line.Text[line.Head:])
	row = f.row(line.Text, func(row *tool.Row, text string) bool {
		return row.Pattern.Matches(text) || logged && row.Pattern.Matches(text[line.Head:])
	})
	if row == nil {
		row = f.row(strings.TrimLeft(line.Text, " "), indents)
	}
	return row, logged
}

// row is the first row that fits a text, nil when none does.
func (f *Finder) row(text string, fits func(row *tool.Row, text string) bool) *tool.Row {
	for _, n := range f.possible(text) {
		if fits(f.rows[n], text) {
			return f.rows[n]
		}
	}
	return nil
}

// indents tells whether a row fits a text that was set in: pip did so with all that a build printed, where compilers and shells tell of errors.
func indents(row *tool.Row, text string) bool {
	return row.Kind == tool.Error && slices.Contains(builders, row.Tool.Class) && row.Pattern.Matches(text)
}

// builders are the classes of the tools that build a package.
var builders = []string{"compile", "link", shellClass}

// record is the row of a line that only its logger calls an error.
var record = &tool.Row{Tool: &tool.Tool{Class: anyClass}, Kind: tool.Weak, Lines: 1, Ends: true}

// relayed is what another logger said, in a line that a program took from its standard error: a level of its own that calls it harmless.
var relayed = pattern.Lazy(`^(?:std(?:err|out) \| )?(?:INFO|WARN(?:ING)?|DEBUG)\b`)

// mayBeLogged tells whether a line may have a level of its own that says error, or a colour code, which may part a word.
func mayBeLogged(raw []byte) bool {
	return bytes.IndexByte(raw, '\x1b') >= 0 || glogError().Match(raw) || slices.ContainsFunc(errorLevels, func(level string) bool { return bytes.Contains(raw, []byte(level)) })
}

// errorLevels are how loggers and CI systems write the level of an error.
var errorLevels = []string{
	"error]", "ERROR", "FATAL", "CRITICAL", "level=error", "level=fatal", "level=panic",
	`"level":"error"`, `"level": "error"`, `"level":"fatal"`, `"level": "fatal"`,
}

// glogError begins a record of glog and of Kubernetes' programs that tells of an error.
var glogError = pattern.Lazy(`^\[?[EF]\d{4} \d\d:`)

// possible are the rows that may know a text, in their order.
func (f *Finder) possible(text string) []int {
	var rows []int
	for _, word := range f.words.In(text, nil) {
		rows = append(rows, f.of[word])
	}
	for _, row := range f.wordless {
		if f.rows[row].Pattern.Possible(text) {
			rows = append(rows, row)
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// clean calls yield with the parts of a line.
func (r *reading) clean(i int, yield func(logline.Line)) {
	r.tail.Form.Clean(r.tail.First+i, r.lines[i], func(line logline.Line) error { //nolint:errcheck // nothing fails
		yield(line)
		return nil
	})
}

// text is the last part of a line that has a text.
func (r *reading) text(i int) logline.Line {
	var last logline.Line
	r.clean(i, func(line logline.Line) {
		if line.Text != "" {
			last = line
		}
	})
	return last
}

// afterScript is the last line of the script that a step prints before it runs: the text of a program is no output of it.
func (r *reading) afterScript(i int, row *tool.Row) int {
	if row.Until == nil {
		return i
	}
	for end := i + 1; end < min(len(r.lines), i+maxScript); end++ {
		if row.Until.Matches(r.text(end).Text) {
			return end
		}
	}
	return i
}

// index is the place of a line among those of the tail.
func (r *reading) index(line logline.Line) int { return line.Number - r.tail.First }
