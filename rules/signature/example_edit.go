package signature

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules/rulefile"
)

// edit is another text for one that stands in a file.
type edit struct {
	old rulefile.Text
	new string
}

// WithAnswer is the file of an example in which it has another answer, found in that line of its log, and another rank if it has one
// already. All other bytes stay.
func (e Example) WithAnswer(file string, answer Answer, line int, rank *int) (string, error) {
	f := e.written
	lines, as := strings.SplitAfter(file, "\n"), strings.SplitAfter(e.file, "\n")
	if !slices.Equal(lines[:min(f.Answer.Line, len(lines))], as[:f.Answer.Line]) {
		return "", fmt.Errorf("%s is not as it was when triage read it, or was built: go run ./cmd/triage builds it anew", e.Place.File)
	}
	text := answer.Certainty
	if answer.ID != e.owner {
		text = answer.ID + " " + answer.Certainty
	}
	edits := []edit{{f.Answer, text}}
	if rank != nil && f.Rank.Value != "" {
		edits = append(edits, edit{f.Rank, strconv.Itoa(*rank)})
	}
	if f.Line.Value != "" {
		edits = append(edits, edit{f.Line, strconv.Itoa(line)})
	}
	if err := replace(lines, edits); err != nil {
		return "", err
	}
	if line != e.Line && f.Line.Value == "" {
		return addLine(lines, f.Answer.Line, line)
	}
	return strings.Join(lines, ""), nil
}

// replace makes the edits, the last first, so that the places of the others stay right.
func replace(lines []string, edits []edit) error {
	slices.SortFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(b.old.Line, a.old.Line), cmp.Compare(b.old.Column, a.old.Column))
	})
	for _, e := range edits {
		if e.old.Line > len(lines) {
			return fmt.Errorf("the file has no line %d", e.old.Line)
		}
		line := lines[e.old.Line-1]
		characters := []rune(line)
		before := string(characters[:min(e.old.Column-1, len(characters))])
		rest, found := strings.CutPrefix(line[len(before):], e.old.Value)
		if !found {
			return fmt.Errorf("line %d does not say %q there; write it on one line", e.old.Line, e.old.Value)
		}
		lines[e.old.Line-1] = before + e.new + rest
	}
	return nil
}

// addLine adds the key line: below the key answer:, which stands on the line of that number.
func addLine(lines []string, answer, line int) (string, error) {
	indent := strings.Index(lines[answer-1], "answer:")
	if indent < 0 || strings.Trim(lines[answer-1][:indent], " -") != "" {
		return "", fmt.Errorf("the example is not written with each key on a line of its own; add line: %d to it", line)
	}
	added := fmt.Sprintf("%sline: %d\n", strings.Repeat(" ", indent), line)
	return strings.Join(slices.Insert(lines, answer, added), ""), nil
}
