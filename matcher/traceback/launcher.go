package traceback

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/pattern"
)

const (
	firstObserved = "(first observed failure)" // the heading above the process that the launcher saw die first
	maxFailures   = 4096
)

var (
	failureField = pattern.Lazy(`^\s+(time|host|rank|exitcode|error_file|traceback)\s*: (.*)$`)
	localRank    = pattern.Lazy(`\(local_rank: (\d{1,6})\)`)
	processID    = pattern.Lazy(`\(pid: (\d{1,9})\)`)
)

// parseFailures reads the list of dead processes that torchrun's last message holds: entries of "name : value" lines, and one of
// them under the heading of the first observed failure. It gives nil for any other message.
func parseFailures(lines []logline.Line) []Failure {
	var failures []Failure
	listed := slices.ContainsFunc(lines, func(l logline.Line) bool { return strings.Contains(l.Text, firstObserved) })
	if !listed {
		return nil
	}
	first := false
	var said []logline.Line
	for _, l := range lines {
		first = first || strings.Contains(l.Text, firstObserved)
		m := failureField().FindStringSubmatch(l.Text)
		if m == nil {
			if len(said) > 0 && strings.HasPrefix(l.Text, "  ") {
				l.Text = l.Text[2:]
				said = append(said, l)
			}
			continue
		}
		if m[1] == "time" && len(failures) < maxFailures {
			failures = withTraceback(failures, said)
			failures, said = append(failures, Failure{Rank: logline.NoRank, LocalRank: logline.NoRank, First: first}), nil
		}
		if n := len(failures); n > 0 {
			failures[n-1].set(m[1], strings.TrimSpace(m[2]), l)
		}
		if m[1] == "traceback" {
			l.Text = m[2]
			said = []logline.Line{l}
		}
	}
	return withTraceback(failures, said)
}

// withTraceback gives the last failure what its entry has of the process's own traceback.
func withTraceback(failures []Failure, said []logline.Line) []Failure {
	if len(failures) == 0 || len(said) < 2 {
		return failures
	}
	f := &failures[len(failures)-1]
	a := NewAssembler(func(e *Exception) { f.Raised = e }, func(logline.Line) {})
	texts := make([]string, len(said))
	for i, l := range said {
		texts[i] = l.Text
		l.Rank = f.Rank
		a.Feed(l)
	}
	a.Close()
	f.Said = strings.Join(texts, "\n")
	return failures
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
