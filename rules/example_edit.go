package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// WithAnswer is the file of an example in which it has another answer, found in that line of its log, and another rank if it has one
// already. All other bytes stay.
func (e Example) WithAnswer(file string, answer Answer, line int, rank *int) (string, error) {
	f := e.written
	text := answer.Certainty
	if answer.ID != e.owner {
		text = answer.ID + " " + answer.Certainty
	}
	lines := strings.SplitAfter(file, "\n")
	if as := strings.SplitAfter(e.file, "\n"); !slices.Equal(lines[:min(f.Answer.Line, len(lines))], as[:f.Answer.Line]) {
		return "", fmt.Errorf("%s is not as it was when triage read it, or was built: go run ./cmd/triage builds it anew", e.Place.File)
	}
	if err := replace(lines, f.Answer, text); err != nil {
		return "", err
	}
	if rank != nil && f.Rank.Value != "" {
		if err := replace(lines, f.Rank, strconv.Itoa(*rank)); err != nil {
			return "", err
		}
	}
	switch {
	case line == e.Line:
	case f.Line.Value != "":
		if err := replace(lines, f.Line, strconv.Itoa(line)); err != nil {
			return "", err
		}
	default:
		at := f.Answer.Line
		indent := strings.Index(lines[at-1], "answer:")
		if indent < 0 || strings.Trim(lines[at-1][:indent], " -") != "" {
			return "", fmt.Errorf("the example is not written with one key on a line; add line: %d to it", line)
		}
		lines = slices.Insert(lines, at, fmt.Sprintf("%sline: %d\n", strings.Repeat(" ", indent), line))
	}
	return strings.Join(lines, ""), nil
}

// replace writes another text where one stands on a line.
func replace(lines []string, old Text, text string) error {
	if old.Line < 1 || old.Line > len(lines) {
		return fmt.Errorf("the file has no line %d", old.Line)
	}
	line := []rune(lines[old.Line-1])
	before := string(line[:min(old.Column-1, len(line))])
	rest, found := strings.CutPrefix(lines[old.Line-1][len(before):], old.Value)
	if !found {
		return fmt.Errorf("line %d does not say %q as one word after another", old.Line, old.Value)
	}
	lines[old.Line-1] = before + text + rest
	return nil
}
