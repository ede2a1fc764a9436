package rootline

import (
	"bytes"
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/tool"
)

// Somebody who asks about a failure may show nothing that ended a program: only an error that was logged, a warning, or a sentence in quotes.
// The one that says most is then what the question is about.

// weight is how much a line says of what somebody asks about.
type weight int

const (
	nothing weight = iota
	warned         // its logger calls it a warning, or the program says that it goes on
	quoted         // a person quotes it
	hinted         // a row knows such warnings
	logged         // its logger calls it an error
	told           // a tool says what is wrong
)

// kinds are the weights in words.
var kinds = map[weight]string{
	warned: "a warning", quoted: "a quoted message", hinted: "a warning", logged: "an error that was logged", told: "an error that was logged",
}

// weighed is a line that may tell what somebody asks about.
type weighed struct {
	mark
	weight weight
}

// quotation is the row of a line that a person quotes.
var quotation = &tool.Row{Tool: &tool.Tool{Class: anyClass}, Kind: tool.Hint}

// Asked is the line that says most of what somebody asks about who shows no failure of a program; nil when there is none or nobody asks, or
// when the program made progress after it.
func (f *Finder) Asked(tail Tail) *Finding {
	if !tail.Form.IsPost() && len(tail.Data) > maxAlone {
		return nil
	}
	r := f.open(tail)
	least := r.least()
	if least == nothing {
		return nil
	}
	lines := slices.DeleteFunc(r.weighed(), func(w weighed) bool { return w.weight < least })
	if len(lines) == 0 {
		return nil
	}
	after := r.lastProgress()
	lines = slices.DeleteFunc(lines, func(w weighed) bool { return w.line.Number < after })
	if len(lines) == 0 {
		return nil
	}
	best := slices.MaxFunc(lines, func(a, b weighed) int { return int(a.weight) - int(b.weight) }) // the first of them
	found := &Finding{Asked: kinds[best.weight]}
	r.show(found, run(lines, best), &step{from: tail.First})
	found.Sure, found.Told = false, false
	return found
}

// run is the lines from the best one on that say as much as it and were printed with it.
func run(lines []weighed, best weighed) []mark {
	var all []mark
	for _, w := range lines {
		last := best.line.Number
		if len(all) > 0 {
			last = all[len(all)-1].line.Number
		}
		if w.weight == best.weight && w.line.Number >= best.line.Number && w.line.Number-last <= maxGap {
			all = append(all, w.mark)
		}
	}
	return all
}

// maxAlone is how long a text may be, in bytes, that may be one line that somebody shows.
const maxAlone = 4 << 10

// title is how the first line of a question is marked, or a question itself.
var title = pattern.Lazy(`^(?:#{1,6} \S|\[\w[\w /-]*\]:? ?\S)`)

// least is how much a line must say to be what somebody asks about: nothing where nobody asks. Whoever shows one line alone asks about it.
func (r *reading) least() weight {
	var first []byte
	filled, apart := 0, false
	for i, line := range r.lines {
		if len(bytes.TrimSpace(line)) == 0 {
			apart = apart || filled == 1 && i > 0
			continue
		}
		if filled++; filled == 1 {
			first = line
		}
	}
	switch form := r.tail.Form; {
	case filled == 1:
		return hinted
	case form.AsksHelp():
		return warned
	case form.IsPost() && (apart || title().Match(first)): // nobody says that anything went wrong
		return logged
	}
	return nothing
}

// weighed are the lines that may tell what somebody asks about. Where a tool says that all went well, those before it do not.
func (r *reading) weighed() []weighed {
	var all []weighed
	for i := range r.lines {
		r.clean(i, func(line logline.Line) {
			row, isError := r.rowOf(line)
			if row != nil && (row.Kind == tool.Passed || row.Kind == tool.Succeeded) {
				all = nil
				return
			}
			w := weigh(line, row, isError)
			if w == nothing || len(all) >= maxMarks {
				return
			}
			if harmless, _ := r.tail.Known(line); harmless {
				return
			}
			switch {
			case row == nil && w == quoted:
				row = quotation
			case row == nil:
				row = record
			}
			all = append(all, weighed{mark{line: line, row: row}, w})
		})
	}
	return all
}

// weigh tells how much a line says that a row knows, or that its logger calls an error.
func weigh(line logline.Line, row *tool.Row, isError bool) weight {
	kind := tool.Kind("")
	if row != nil {
		kind = row.Kind
	}
	goesOn := logline.GoesOn(line.Text) || logline.OfLibrary(line.Text)
	switch {
	case kind == tool.Ignored || kind == tool.Step || line.Level == logline.Debug:
		return nothing
	case kind == tool.Error && row.Tool.Class == pythonClass: // its tracebacks and the signatures tell
		return nothing
	case kind == tool.Error && !goesOn:
		return told
	case isError && !goesOn:
		return logged
	case kind == tool.Weak && row.Ends && !goesOn && line.Level != logline.Info:
		return logged
	case kind == tool.Hint:
		return hinted
	case line.Told && logline.Failed(line.Text):
		return quoted
	case isError || line.Level == logline.Warning:
		return warned
	}
	return nothing
}

// lastProgress is the number of the last line that shows progress.
func (r *reading) lastProgress() (number int) {
	for i := range r.lines {
		r.clean(i, func(line logline.Line) {
			if _, progress := r.tail.Known(line); progress {
				number = line.Number
			}
		})
	}
	return number
}
