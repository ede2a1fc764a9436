package command

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// WindowsShell is a shell of Windows, by the value of the fact shell. What it takes is from Microsoft's reference of Windows commands
// (learn.microsoft.com/windows-server/administration/windows-commands) and PowerShell 5.1's (about_Quoting_Rules, about_Environment_Variables).
type WindowsShell string

// The shells of Windows.
const (
	Cmd        WindowsShell = "cmd"
	PowerShell WindowsShell = "powershell"
)

// errUnsaid is why a line stays as it is: it has a program or a form that Windows has not.
var errUnsaid = errors.New("the line cannot be said there")

// Say is a line for a POSIX shell as one for the shell of Windows: with its quotes, its way to set a variable, and its own programs in the
// place of ls, which and grep. Not ok: it is no shell of Windows, the line needs what Windows has not, or a value in it would mean something
// else there.
func (w WindowsShell) Say(line string) (said string, ok bool) {
	if w != Cmd && w != PowerShell {
		return "", false
	}
	file, err := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || strings.Contains(line, "\n") || len(file.Stmts) == 0 {
		return "", false
	}
	var all []string
	for _, stmt := range file.Stmts {
		one, err := w.statement(stmt)
		if err != nil {
			return "", false
		}
		all = append(all, one)
	}
	return strings.Join(all, w.after()) + w.comment(file), true
}

// after stands between two commands of which the second runs whatever becomes of the first.
func (w WindowsShell) after() string {
	if w == PowerShell {
		return "; "
	}
	return " & "
}

// then stands between two commands of which the second needs the first.
func (w WindowsShell) then() string {
	if w == PowerShell {
		return "; " // version 5 has no &&
	}
	return " && "
}

// comment is what is said behind the commands.
func (w WindowsShell) comment(file *syntax.File) string {
	comments := slices.Concat(file.Stmts[len(file.Stmts)-1].Comments, file.Last)
	if len(comments) == 0 {
		return ""
	}
	text := strings.TrimSpace(comments[0].Text)
	if w == Cmd {
		return "   & rem " + strings.Map(withoutMeaning, text)
	}
	return "   # " + text
}

// withoutMeaning leaves out of a remark what cmd would take for more than words.
func withoutMeaning(c rune) rune {
	if strings.ContainsRune("&|<>^%", c) {
		return -1
	}
	return c
}

func (w WindowsShell) statement(stmt *syntax.Stmt) (string, error) {
	if stmt.Negated || stmt.Background || stmt.Coprocess {
		return "", errUnsaid
	}
	said, err := w.command(stmt.Cmd)
	if err != nil {
		return "", err
	}
	for _, r := range stmt.Redirs {
		to, err := w.redirect(r)
		if err != nil {
			return "", err
		}
		said += to
	}
	return said, nil
}

func (w WindowsShell) command(c syntax.Command) (string, error) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		return w.call(c)
	case *syntax.DeclClause:
		return w.export(c)
	case *syntax.BinaryCmd:
		return w.both(c)
	}
	return "", errUnsaid
}

// both are two commands in a row or with a pipe between them.
func (w WindowsShell) both(c *syntax.BinaryCmd) (string, error) {
	left, err := w.statement(c.X)
	if err != nil {
		return "", err
	}
	if c.Op == syntax.Pipe {
		return w.piped(left, c.Y)
	}
	right, err := w.statement(c.Y)
	if err != nil || c.Op != syntax.AndStmt {
		return "", errUnsaid
	}
	return left + w.then() + right, nil
}

// redirect is where output goes, with the blank before it.
func (w WindowsShell) redirect(r *syntax.Redirect) (string, error) {
	number := ""
	if r.N != nil {
		number = r.N.Value
	}
	to, err := literal(r.Word)
	switch {
	case err != nil || r.Op != syntax.RdrOut && r.Op != syntax.DplOut && r.Op != syntax.AppOut:
		return "", errUnsaid
	case r.Op == syntax.DplOut:
		return " " + number + ">&" + to, nil
	case to == "/dev/null" && w == Cmd:
		return " " + number + ">NUL", nil
	case to == "/dev/null":
		return " " + number + ">$null", nil
	}
	return " " + number + r.Op.String() + " " + quoted(to), nil
}

// export sets variables for all commands that follow.
func (w WindowsShell) export(c *syntax.DeclClause) (string, error) {
	if c.Variant.Value != "export" {
		return "", errUnsaid
	}
	return w.set(c.Args)
}

func (w WindowsShell) set(assigns []*syntax.Assign) (string, error) {
	var all []string
	for _, a := range assigns {
		if a.Name == nil || a.Value == nil || a.Array != nil || a.Append {
			return "", errUnsaid
		}
		value, err := literal(a.Value)
		if err != nil {
			return "", err
		}
		if w == PowerShell {
			all = append(all, "$env:"+a.Name.Value+"="+quotedAlways(value))
			continue
		}
		all = append(all, `set "`+a.Name.Value+"="+value+`"`)
	}
	return strings.Join(all, w.then()), nil
}

// call is a program with its arguments, and the variables that are set for it.
func (w WindowsShell) call(c *syntax.CallExpr) (string, error) {
	words, err := literals(c.Args)
	if err != nil {
		return "", err
	}
	if len(words) == 0 {
		return w.set(c.Assigns)
	}
	said, err := w.program(words)
	if err != nil || len(c.Assigns) == 0 {
		return said, err
	}
	before, err := w.set(c.Assigns)
	return before + w.then() + said, err
}

// otherQuotes end a text in PowerShell as its plain ones do.
const otherQuotes = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e"

// literals are the words of a command, without their quotes.
func literals(args []*syntax.Word) ([]string, error) {
	words := make([]string, len(args))
	for i, arg := range args {
		word, err := literal(arg)
		if err != nil {
			return nil, err
		}
		words[i] = word
	}
	return words, nil
}

// literal is what a word stands for, when no shell has anything to work out in it, and neither has one of Windows.
func literal(word *syntax.Word) (string, error) {
	var b strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.Contains(part.Value, `\`) {
				return "", errUnsaid
			}
			b.WriteString(part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.Contains(lit.Value, `\`) {
					return "", errUnsaid
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", errUnsaid
		}
	}
	text := b.String()
	if isUnixPath(text) || meansMore(text) {
		return "", errUnsaid
	}
	return strings.ReplaceAll(text, `"`, "'"), nil // in Python and in patterns of names they are the same
}

// isUnixPath tells whether a text is a place that Windows has not.
func isUnixPath(text string) bool {
	return strings.HasPrefix(text, "~") || strings.HasPrefix(text, "/") && text != "/dev/null"
}

// meansMore tells whether a text would mean something else between the double quotes of a shell of Windows: a variable, an end of the quotes.
func meansMore(text string) bool {
	return strings.ContainsAny(text, "$`\n"+otherQuotes) || strings.Count(text, "%") > 1 || strings.HasSuffix(text, `\`) ||
		strings.Contains(text, `"`) && strings.Contains(text, "'")
}

// quoted is a word with quotes, where it needs them.
func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t&|<>^()[]{},;!'@#*?") {
		return word
	}
	return quotedAlways(word)
}

func quotedAlways(word string) string { return `"` + word + `"` }
