package rulefile

import (
	"fmt"
	"strings"
)

// Problem is a mistake in a rule file: where it is and what to do about it.
type Problem struct {
	File    string
	Line    int // from 1
	Column  int // from 1
	Message string
}

// Error is the problem in the form that editors and terminals make a link of.
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems are all the mistakes of one loading, in the order of their places.
type Problems []Problem

// Error lists them, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}
