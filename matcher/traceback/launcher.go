package traceback

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

// firstObserved is the heading above the process that the launcher saw die first.
const firstObserved = "(first observed failure)"

var (
	failureField = pattern.Lazy(`^\s+(time|host|rank|exitcode|error_file|traceback)\s*: (.*)$`)
	localRank    = pattern.Lazy(`\(local_rank: (\d{1,6})\)`)
	processID    = pattern.Lazy(`\(pid: (\d{1,9})\)`)
)

// parseFailures reads the list of dead processes that torchrun's last message holds: entries of "name : value" lines, and one of
// them under the heading of the first observed failure. It gives nil for any other message.
func parseFailures(lines []logline.Line) []Failure {
	if !slices.ContainsFunc(lines, namesFirst) {
		return nil
	}
	var list failureList
	for _, l := range lines {
		list.first = list.first || namesFirst(l)
		if m := failureField().FindStringSubmatch(l.Text); m != nil {
			list.field(m[1], m[2], l)
		} else {
			list.goOn(l)
		}
	}
	list.endEntry()
	return list.failures
}

func namesFirst(l logline.Line) bool { return strings.Contains(l.Text, firstObserved) }

// failureList is a list of dead processes that is being read.
type failureList struct {
	failures []Failure
	first    bool           // the entry is below the heading of the first observed failure
	said     []logline.Line // of the entry: what it has of the process's own traceback
}

// field takes a "name : value" line.
func (f *failureList) field(name, value string, l logline.Line) {
	if name == "time" { // begins an entry
		f.endEntry()
		f.failures = append(f.failures, Failure{Rank: logline.NoRank, LocalRank: logline.NoRank, First: f.first})
	}
	if n := len(f.failures); n > 0 {
		f.failures[n-1].set(name, strings.TrimSpace(value), l)
	}
	if name == "traceback" {
		l.Text = value
		f.said = []logline.Line{l}
	}
}

// goOn takes a line of another form: the traceback goes on when it is set in.
func (f *failureList) goOn(l logline.Line) {
	if len(f.said) == 0 || !strings.HasPrefix(l.Text, "  ") {
		return
	}
	l.Text = l.Text[len("  "):]
	f.said = append(f.said, l)
}

// endEntry gives the last failure what its entry has of the process's own traceback, when that is more than a sentence.
func (f *failureList) endEntry() {
	said := f.said
	f.said = nil
	if len(f.failures) == 0 || len(said) < 2 {
		return
	}
	last := &f.failures[len(f.failures)-1]
	a := newCollector(func(e *Exception) { last.Raised = e })
	texts := make([]string, len(said))
	for i, l := range said {
		texts[i] = l.Text
		l.Rank = last.Rank
		a.Feed(l)
	}
	a.Close()
	last.Said = strings.Join(texts, "\n")
}

// set takes one "name : value" line of an entry.
func (f *Failure) set(name, value string, l logline.Line) {
	number, _, _ := strings.Cut(value, " ")
	switch name {
	case "time":
		f.Time = value
	case "host":
		f.Host = value
	case "rank":
		f.Rank = logline.ParseRank(number)
		if m := localRank().FindStringSubmatch(value); m != nil {
			f.LocalRank = logline.ParseRank(m[1])
		}
	case "exitcode":
		f.ExitCode, _ = strconv.Atoi(number)
		f.Line = l
		if m := processID().FindStringSubmatch(value); m != nil {
			f.PID, _ = strconv.Atoi(m[1])
		}
	case "error_file":
		if value != "<N/A>" {
			f.ErrorFile = value
		}
	case "traceback":
		f.Said = value
	}
}
