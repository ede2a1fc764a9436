package logline

import (
	"sync"

	"github.com/gpu-triage/triage/rules/wrapper"
)

// What can stand around a program's own words is listed in rules/wrapper/wrappers.yaml. Without a row there are the RFC 3339 time that a
// transport puts before each line (transportStamp), records in JSON (structured.go), labels that are ordinary text unless most lines
// have one (labelForms), and the wrappers that a source itself teaches (learned.go).

const digits = "0123456789"

// forms are the rows of the list.
var forms = sync.OnceValue(func() *formTable {
	table := wrapper.Shipped()
	t := &formTable{}
	for _, f := range table.Marks {
		t.marks = append(t.marks, &prefixForm{Form: f, expression: sync.OnceValue(func() prefixExpression { return prefixExpressionOf(f) })})
		if f.Again != "" {
			t.again = append(t.again, []byte(f.Again))
		}
	}
	for _, f := range table.Records {
		t.records = append(t.records, newRecordForm(f))
	}
	for c := range 256 {
		for _, f := range t.marks {
			if f.Starts(byte(c)) {
				t.marksAt[c] = append(t.marksAt[c], f)
			}
		}
		for _, f := range t.records {
			if f.Starts(byte(c)) {
				t.recordsAt[c] = append(t.recordsAt[c], f)
			}
		}
	}
	return t
})

// formTable is the list in the order in which the forms are tried.
type formTable struct {
	marks   []*prefixForm
	records []*recordForm

	marksAt   [256][]*prefixForm // by the byte that a line with them may begin with
	recordsAt [256][]*recordForm

	again [][]byte // what lines have in them whose mark comes again in their middle
}

// A prefixForm is one way in which launchers, schedulers and collectors mark whose line it is.
//
// The groups of its expression say what was found: rank (global), local (a rank in the node, the role or the file: second best), writer
// (what tells processes apart).
type prefixForm struct {
	*wrapper.Form
	expression func() prefixExpression // compiled for the first line that needs it: a log has few of the forms
}

// A recordForm is one way in which logging libraries begin a record. The groups of its expression are level and time; level may stand
// in it twice, and the one that took part counts.
type recordForm struct {
	*wrapper.Form
	shortcut recordShortcut
}

// A labelForm is a label in front of a colon that would be ordinary text if only one line had it. It is believed when enough of a
// source's first lines have one and the labels repeat: an enumeration counts up, a job of many tasks comes back to each of them.
type labelForm struct {
	tool    string                              // that writes it
	example string                              // a line that begins with it
	fits    func(label string, indent int) bool // whether that can be a label behind so many spaces
	share   int                                 // percent of the lines that must have one, at least
	rank    bool                                // the label is a global rank, unless a line of the source says that it is a node's number
	proof   bool                                // a traceback behind one label is proof: nothing else prints such a thing there
}

// labelForms are the labels that are looked for. No text fits two of them.
var labelForms = []labelForm{
	{tool: "srun --label", example: " 3: text", fits: isTaskNumber, share: 50, rank: true, proof: true},
	{tool: "pdsh", example: "worker-1: text", fits: isHostLabel, share: 90},
}
