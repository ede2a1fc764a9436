package matcher

import (
	"regexp"
	"strconv"
	"strings"
)

const (
	firstObserved = "(first observed failure)" // the heading above the process that the launcher saw die first
	maxFailures   = 4096
)

var (
	failureField = regexp.MustCompile(`^\s+(time|host|rank|exitcode|error_file|traceback)\s*: (.*)$`)
	localRank    = regexp.MustCompile(`\(local_rank: (\d{1,6})\)`)
	processID    = regexp.MustCompile(`\(pid: (\d{1,9})\)`)
)

// parseFailures reads the list of dead processes that torchrun's last message holds: entries of "name : value" lines, and one of
// them under the heading of the first observed failure. It gives nil for any other message.
func parseFailures(lines []Line) []Failure {
	var failures []Failure
	first, listed := false, false
	for _, l := range lines {
		if strings.Contains(l.Text, firstObserved) {
			first, listed = true, true
		}
	}
	if !listed {
		return nil
	}
	first = false
	for _, l := range lines {
		if strings.Contains(l.Text, firstObserved) {
			first = true
			continue
		}
		m := failureField.FindStringSubmatch(l.Text)
		if m == nil {
			if n := len(failures); n > 0 && failures[n-1].Said != "" && strings.HasPrefix(l.Text, "  ") {
				failures[n-1].Said += "\n" + strings.TrimPrefix(l.Text, "  ")
			}
			continue
		}
		if m[1] == "time" && len(failures) < maxFailures {
			failures = append(failures, Failure{Rank: NoRank, LocalRank: NoRank, First: first})
		}
		if n := len(failures); n > 0 {
			failures[n-1].set(m[1], strings.TrimSpace(m[2]), l)
		}
	}
	return failures
}

// set takes one "name : value" line of an entry.
func (f *Failure) set(name, value string, l Line) {
	number, _, _ := strings.Cut(value, " ")
	switch name {
	case "time":
		f.Time = value
	case "host":
		f.Host = value
	case "rank":
		f.Rank = atoi(number)
		if m := localRank.FindStringSubmatch(value); m != nil {
			f.LocalRank = atoi(m[1])
		}
	case "exitcode":
		f.ExitCode, _ = strconv.Atoi(number)
		f.Line = l
		if m := processID.FindStringSubmatch(value); m != nil {
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
