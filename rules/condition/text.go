package condition

import (
	"errors"

	"github.com/gpu-triage/triage/rules/rulefile"
)

// compileText compiles an expression of a rule file and notes its mistakes at their place in the file.
func CompileText(d *rulefile.Decoder, s *Scope, t rulefile.Text, condition bool) *Expression {
	if t.Line == 0 { // it was no text, which is noted already
		return nil
	}
	build := s.Compile
	if condition {
		build = s.CompileCondition
	}
	e, err := build(t.Value)
	if err == nil {
		return e
	}
	var at *ExpressionError
	if errors.As(err, &at) {
		column := at.Column
		if at.Line == 1 {
			column += t.Column - 1
		}
		d.Problem(t.Line+at.Line-1, column, "%s", at.Message)
	} else {
		d.Problem(t.Line, t.Column, "%v", err)
	}
	return nil
}
