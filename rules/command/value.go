package command

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxValue is how many bytes of a value a command takes: the longest path that Linux has is longer, and nobody reads such a command.
const maxValue = 300

// sayable tells whether a value can stand in a command at all: it is neither empty nor longer than anybody reads, and each of its
// characters shows, so that what is copied is what is seen.
func sayable(value string) bool {
	return value != "" && len(value) <= maxValue && utf8.ValidString(value) && !strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) })
}

var (
	// plainWord has no character that means anything in a shell, a regular expression or Python, but for the dot, slash, plus and minus
	// of names, versions and paths.
	plainWord   = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./+-]*$`)
	commentWord = regexp.MustCompile(`^[A-Za-z0-9_./<][A-Za-z0-9_./\\:<>+-]*$`)
	// shellWord needs no quotes in a shell.
	shellWord = regexp.MustCompile(`^[A-Za-z0-9_@+:,./-][A-Za-z0-9_@+=:,./-]*$`)
	// requirement is what an installer is told to install: a name, perhaps with extras and versions, and nothing that it would fetch
	// from elsewhere (PEP 508 without direct references).
	requirement = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?( ?([=!~]=|[<>]=?) ?[A-Za-z0-9.*+!_-]+(, ?([=!~]=|[<>]=?) ?[A-Za-z0-9.*+!_-]+)*)?$`)
	// pythonName is what can stand in Python's code without quotes: a name, also with dots, or a number.
	pythonName = regexp.MustCompile(`^([A-Za-z_]\w*(\.[A-Za-z_]\w*)*|\d+(\.\d+)?)$`)
)

func asItIs(value string) (string, bool) { return value, true }

func asPlainWord(value string) (string, bool) { return value, plainWord.MatchString(value) }

// inComment is a place in a comment, which also names lines of files: /job/train.py:12, or C:\job\train.py:12.
func inComment(value string) (string, bool) { return value, commentWord.MatchString(value) }

// asRequirement is a place in the command line of an installer, where a word alone decides whose code is run.
func asRequirement(quoted place) place {
	return func(value string) (string, bool) {
		if !requirement.MatchString(value) {
			return "", false
		}
		return quoted(value)
	}
}

// notAnOption is a place at the beginning of a word, where a value with a dash would be an option.
func notAnOption(quoted place) place {
	return func(value string) (string, bool) {
		if strings.HasPrefix(value, "-") {
			return "", false
		}
		return quoted(value)
	}
}

// home is how a path in the folder of the user begins, which a shell knows outside of quotes alone.
const home = "~/"

// asShellWord is a place outside of quotes.
func asShellWord(value string) (string, bool) {
	if rest, ok := strings.CutPrefix(value, home); ok && rest != "" {
		word, ok := asShellWord(rest)
		return home + word, ok
	}
	if shellWord.MatchString(value) {
		return value, true
	}
	return singleQuoted(value), true
}

func singleQuoted(value string) string { return "'" + inSingleQuotes(value) + "'" }

func inSingleQuotes(value string) string { return strings.ReplaceAll(value, "'", `'\''`) }

func asSingleQuoted(value string) (string, bool) { return inSingleQuotes(value), true }

// asDoubleQuoted is a place between double quotes. They are left for a value that means something in them: an interactive shell's !
// cannot be escaped there.
func asDoubleQuoted(value string) (string, bool) {
	if !strings.ContainsAny(value, "$`\"\\!") {
		return value, true
	}
	return `"` + singleQuoted(value) + `"`, true
}
