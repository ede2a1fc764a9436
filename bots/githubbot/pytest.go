package githubbot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/matcher/report"
)

// How pytest writes a failed test: a heading between underscores, a place for each frame, the exception in lines marked with an E, and the
// place of the deepest frame. https://docs.pytest.org/en/stable/how-to/output.html#modifying-python-traceback-printing
var (
	testHeading = regexp.MustCompile(`(?:^|\s)_{3,} \S.* _{3,}\s*$`)
	testPlace   = regexp.MustCompile(`(?:^|\s)([^\s:]+\.py):(\d{1,9}):(?: in \S+| [A-Z]\w*)?\s*$`)
)

const (
	placesBelow = 12  // lines below the exception in which its deepest place stands
	placesKept  = 100 // frames of a test, the deepest
)

// withPytest adds the places that pytest wrote to the evidence of those diagnoses that show no line of code, the deepest first.
func withPytest(answer report.Report, logs []fetch.Log) report.Report {
	answer.Diagnoses = slices.Clone(answer.Diagnoses)
	for i := range answer.Diagnoses {
		d := &answer.Diagnoses[i]
		if len(d.Evidence) == 0 {
			continue
		}
		first := d.Evidence[0]
		at := slices.IndexFunc(logs, func(l fetch.Log) bool { return l.Name == first.Source })
		if at < 0 {
			continue
		}
		if log, err := logs[at].Open(); err == nil {
			d.Evidence = slices.Concat(d.Evidence, places(log, first))
			log.Close()
		}
	}
	return answer
}

// places are the places of the test in whose account a line stands, as Python writes them.
func places(log io.Reader, of report.Evidence) (found []report.Evidence) {
	lines := bufio.NewReaderSize(log, 64<<10)
	for number := 1; number <= of.Line+placesBelow; number++ {
		line, err := shortLine(lines)
		switch m := testPlace.FindStringSubmatch(line); {
		case testHeading.MatchString(line):
			if number > of.Line {
				return found
			}
			found = nil
		case m != nil:
			e := report.Evidence{Source: of.Source, Line: number, Rank: of.Rank, Text: fmt.Sprintf("File %q, line %s", m[1], m[2])}
			found = slices.Insert(found, 0, e)
			found = found[:min(len(found), placesKept)]
		}
		if err != nil {
			break
		}
	}
	return found
}

// shortLine reads a line, and gives "" for one that is too long to be of interest.
func shortLine(from *bufio.Reader) (string, error) {
	text, err := from.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return string(text), err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = from.ReadSlice('\n')
	}
	return "", err
}
