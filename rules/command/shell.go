package command

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// shell is what a shell's parser sees in a command.
type shell struct {
	places []place
	words  []string // the first command: its words as they are written, without assignments before it
}

// marker stands in a place while the command is parsed. A shell takes it for a name.
func marker(i int) string { return fmt.Sprintf("place_%d_", i) }

var markers = regexp.MustCompile(`place_(\d+)_`)

// readShell parses a command with markers in its places. Flags are parsed behind a command that they could be added to.
func readShell(texts []string, kind Kind) (*shell, error) {
	var b strings.Builder
	if kind == Flag {
		b.WriteString("command ")
	}
	for i, text := range texts {
		if i > 0 {
			b.WriteString(marker(i - 1))
		}
		b.WriteString(text)
	}
	source := b.String()
	file, err := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(source), "")
	if err != nil {
		return nil, err
	}
	s := &shell{places: make([]place, len(texts)-1)}
	for i := range s.places {
		s.places[i] = asPlainWord // of a comment, a pattern, arithmetic and whatever else is not plainly a word
	}
	if len(file.Stmts) > 0 {
		s.readWords(source, file.Stmts[0].Cmd)
	}
	v := visitor{shell: s, source: source}
	syntax.Walk(file, v.visit)
	return s, nil
}

// readWords takes the words of the first command, through pipes and lists.
func (s *shell) readWords(source string, command syntax.Command) {
	switch c := command.(type) {
	case *syntax.BinaryCmd:
		s.readWords(source, c.X.Cmd)
	case *syntax.CallExpr:
		for _, word := range c.Args {
			s.words = append(s.words, source[word.Pos().Offset():word.End().Offset()])
		}
	case *syntax.DeclClause:
		s.words = []string{c.Variant.Value}
	case nil:
	default: // a loop, a group
		s.words = []string{"for"}
	}
}

// visitor walks through a parsed command and finds what its places are.
type visitor struct {
	*shell
	source string
	above  []syntax.Node
}

func (v *visitor) visit(node syntax.Node) bool {
	if node == nil {
		v.above = v.above[:len(v.above)-1]
		return true
	}
	switch n := node.(type) {
	case *syntax.Lit:
		v.found(n.Value, int(n.Pos().Offset()), v.unquoted())
	case *syntax.SglQuoted:
		how := place(asSingleQuoted)
		if n.Dollar || isCode(n.Value) || !v.inWords() {
			how = asPlainWord
		}
		v.found(n.Value, int(n.Pos().Offset())+1, how)
	}
	v.above = append(v.above, node)
	return true
}

// found notes how the places in a text that begins at an offset take a value.
func (v *visitor) found(text string, offset int, how place) {
	for _, m := range markers.FindAllStringSubmatchIndex(text, -1) {
		i, err := strconv.Atoi(text[m[2]:m[3]])
		if err != nil || i >= len(v.places) { // the author wrote what looks like a marker
			continue
		}
		at, here := offset+m[0], how
		if word := v.word(); word != nil && !isPlain(here) {
			if begin := int(word.Pos().Offset()); at == begin || at == begin+1 && strings.ContainsRune(`'"`, rune(v.source[begin])) {
				here = notAnOption(here)
			}
			here = v.argument(word, here)
		}
		v.places[i] = here
	}
}

// unquoted is how a literal takes a value: outside of quotes or between double ones.
func (v *visitor) unquoted() place {
	if !v.inWords() {
		return asPlainWord
	}
	switch parent := v.above[len(v.above)-1].(type) {
	case *syntax.Word:
		return asShellWord
	case *syntax.DblQuoted:
		inner := v.source[parent.Pos().Offset()+1 : parent.End().Offset()-1]
		if !parent.Dollar && !isCode(inner) {
			return asDoubleQuoted
		}
	}
	return asPlainWord
}

// inWords tells whether everything above is what quoting works in: commands and their words, down to $( ), but no `command`, no
// here-document, no arithmetic, no pattern and no ${name:-value}.
func (v *visitor) inWords() bool {
	for i, node := range v.above {
		switch n := node.(type) {
		case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause, *syntax.ParamExp, *syntax.ExtGlob, *syntax.CaseItem, *syntax.BraceExp, *syntax.FuncDecl:
			return false
		case *syntax.CmdSubst:
			if n.Backquotes {
				return false
			}
		case *syntax.Redirect:
			if n.Hdoc != nil && i+1 < len(v.above) && v.above[i+1] == syntax.Node(n.Hdoc) {
				return false
			}
		}
	}
	return len(v.above) > 0
}

// word is the nearest word above.
func (v *visitor) word() *syntax.Word {
	for _, node := range slices.Backward(v.above) {
		if word, ok := node.(*syntax.Word); ok {
			return word
		}
	}
	return nil
}

// argument narrows what a word of a command takes by what the command does with it: an installer fetches and runs it, and the first word,
// the one after -c and those of a command that reads them as a program are run as they are.
func (v *visitor) argument(word *syntax.Word, how place) place {
	var call *syntax.CallExpr
	for i, node := range v.above[:len(v.above)-1] {
		if c, ok := node.(*syntax.CallExpr); ok && v.above[i+1] == syntax.Node(word) {
			call = c
		}
	}
	if call == nil {
		return how
	}
	position := slices.Index(call.Args, word)
	for i, other := range call.Args {
		switch text := other.Lit(); {
		case i == position && i == 0, i == position-1 && (text == "-c" || text == "-e"), i < position && slices.Contains(interpreting, text):
			return asPlainWord
		case i < position && slices.Contains(installing, text):
			return asRequirement(how)
		}
	}
	return how
}

// installing are the words with which installers are told what to do: pip, conda, apt-get, npm and others share them.
var installing = []string{"install", "uninstall", "wheel", "add"}

// interpreting are commands that read a program out of their words, to which quotes of the shell around it mean nothing.
var interpreting = []string{"awk", "eval", "parallel", "perl", "sed", "ssh", "su", "watch", "xargs"}

// isCode tells whether a quoted text may be a program: one of Python, a shell, sed or awk. Quotes that hold for the shell around it do not
// hold in there.
func isCode(quoted string) bool {
	return strings.ContainsFunc(quoted, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("();|&{}\\'\"`", r) })
}

func isPlain(p place) bool {
	_, ok := p("a b")
	return !ok
}

// plainKind is the kind of a command that does not say it; "" when a reader could doubt it.
func plainKind(s *shell, err error) Kind {
	if err != nil || len(s.words) == 0 {
		return ""
	}
	first := s.words[0]
	switch {
	case optionWord.MatchString(first):
		return Flag
	case !programWord.MatchString(first) || slices.Contains(pythonWords, first) || len(s.words) > 1 && notArgument.MatchString(s.words[1]):
		return ""
	}
	return Sh
}

var (
	optionWord = regexp.MustCompile(`^--?[A-Za-z]`)
	// programWord is a program's name or path. One that begins with a capital and goes on in small letters is a sentence's first word or a
	// Python class; one with dots and no slash is an attribute of Python.
	programWord = regexp.MustCompile(`^([~.$]?[\w+~${}-]*/[\w./+~${}*-]+|[a-z][\w+-]*(\.(sh|py|bat|exe))?|[A-Z0-9_]+|\[)$`)
	// notArgument is an operator of Python, or the end of a name that a value follows in a configuration.
	notArgument = regexp.MustCompile(`^[-+*/@%|&]*=$|^@$|:$`)
	// pythonWords begin a statement of Python that a shell would take for a command.
	pythonWords = []string{"assert", "class", "def", "del", "from", "import", "pass", "raise", "return", "with", "yield", "print"}
)
