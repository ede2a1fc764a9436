package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A draft is a signature to be, and the part of a log that shows it.
type draft struct {
	id      string
	class   string   // of the exception, without its module; "" for a line that is none
	message string   // of the exception, or the line
	log     []string // lines
	line    int      // of log, from 1: the evidence

	anyProgram bool // what it says may come from any program: Python's own exception out of the user's own code
}

// How many lines of a log go into an example: all of a short log, else so many before the evidence and around a traceback.
const (
	shortLog    = 40
	linesBefore = 15
	mostBefore  = 200 // where a traceback is longer
	linesAround = 5
)

var (
	exceptionLine = regexp.MustCompile(`^([\w.]+): (.*)$`)
	indented      = regexp.MustCompile(`^(?:\[[^\]]*\]:? ?)*[ \t]`) // after the rank that a launcher writes
	word          = regexp.MustCompile(`[A-Za-z]+`)
	idForm        = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
)

// about takes the words of the failure from the text of an exception, or from a line.
func (d *draft) about(text string, exception bool) {
	d.message, _, _ = strings.Cut(text, "\n")
	m := exceptionLine.FindStringSubmatch(d.message)
	if !exception || m == nil {
		return
	}
	d.class, d.message = m[1][strings.LastIndexByte(m[1], '.')+1:], m[2]
}

// excerpt takes the lines around the evidence, and all of a traceback or whatever else is indented with a few lines before it.
func (d *draft) excerpt(log []string, line int) {
	first, last := max(line-linesBefore, 1), min(line+linesAround, len(log))
	if indented.MatchString(log[first-1]) {
		for first > max(line-mostBefore, 1) && indented.MatchString(log[first-1]) {
			first--
		}
		first = max(first-linesAround, 1)
	}
	if len(log) <= shortLog {
		first, last = 1, len(log)
	}
	d.log, d.line = log[first-1:last], line-first+1
}

// fillers are words that tell nothing in a name.
var fillers = []string{"the", "and", "for", "has", "have", "was", "were", "are", "with", "from", "this", "that", "but", "another", "over"}

// wordsOfName is how many words an id has at most.
const wordsOfName = 5

// name makes an id of the exception's name and of words of its message: those of the keyword, which are the rarest.
func (d *draft) name() string {
	words := camelWords(d.class)
	text := d.keyword()
	if text == d.class {
		text = ""
	}
	for _, w := range word.FindAllString(text, -1) {
		w = strings.ToLower(w)
		if len(w) > 2 && !slices.Contains(fillers, w) && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if at := slices.Index(words, "error"); at > 0 && at < len(words)-1 {
		words = slices.Delete(words, at, at+1)
	}
	if len(words) == 0 {
		return "new-failure"
	}
	return strings.Join(words[:min(len(words), wordsOfName)], "-")
}

// camelWords are the words of a name such as BlockingIOError: blocking, io, error.
func camelWords(name string) (words []string) {
	letters := []rune(name)
	begin := 0
	take := func(end int) {
		if w := strings.ToLower(strings.Trim(string(letters[begin:end]), "_")); w != "" {
			words = append(words, w)
		}
		begin = end
	}
	for i := 1; i < len(letters); i++ {
		upper, after := unicode.IsUpper(letters[i]), !unicode.IsUpper(letters[i-1])
		before := i+1 < len(letters) && unicode.IsLower(letters[i+1])
		if letters[i] == '_' || upper && (after || before) {
			take(i)
		}
	}
	take(len(letters))
	return words
}

// signature is the file.
func (d *draft) signature() string {
	match := []string{"text matches " + quoteExpression(d.pattern())}
	if d.class != "" {
		match = []string{fmt.Sprintf("error.name == %q", d.class), "error.message matches " + quoteExpression(d.pattern())}
	}
	var out strings.Builder
	fmt.Fprintf(&out, `id: %s
title: TODO what went wrong, in a few words
# A proposal from one log: take out what only this run has (names, paths, numbers).
keywords: [%s]
match:
`, d.id, scalar(cmp.Or(d.keyword(), "TODO words that stand in every such line")))
	for _, condition := range match {
		fmt.Fprintf(&out, "  - %s\n", scalar(condition))
	}
	fmt.Fprintf(&out, `# Facts may tell this cause from others that print the same; triage facts lists facts.
# confirm:
#   - torch >= "2.6.0"
cause: >
  TODO why it happens.
fixes:
  - do: TODO what helps, best first.
    run: ['TODO what to copy, or take this line out']
references: [TODO where this is known from]
examples:
  - source: TODO where this log is from
    provenance: TODO real, reproduced or written
    answer: confirmed
%s    log: %s
  - source: TODO a near miss, as similar as can be, in which this is not the cause
    answer: none          # or what the cause is and how sure, as in cuda-oom likely
    log: |
      TODO
`, d.evidence(), block(d.log, "      "))
	return out.String()
}

// evidence is the key that names the line of the evidence, where it is not the last.
func (d *draft) evidence() string {
	if d.line == len(d.log) {
		return ""
	}
	return fmt.Sprintf("    line: %d\n", d.line)
}

// quoteExpression writes a text as a string of the condition language.
func quoteExpression(text string) string {
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// plain is a text that YAML takes as it is, also within brackets.
var plain = regexp.MustCompile(`^[A-Za-z][^:#,\[\]{}]*[^:#,\[\]{}\s]$`)

// scalar writes a text on one line as YAML.
func scalar(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// block writes lines as a text of YAML: as they are, or, where that cannot hold them, with a mark for each byte that it cannot.
func block(lines []string, indent string) string {
	text := strings.ToValidUTF8(strings.Join(lines, "\n"), "\ufffd")
	awkward := func(r rune) bool {
		return r != '\t' && r != '\n' && r != ' ' && !unicode.IsGraphic(r) || r == '\ufeff' || r == '\u0085'
	}
	lines = strings.Split(text, "\n")
	var out strings.Builder
	if strings.ContainsFunc(text, awkward) || strings.TrimSpace(lines[0]) == "" || strings.TrimSpace(lines[len(lines)-1]) == "" {
		out.WriteByte('"')
		for _, line := range lines {
			quoted := strconv.Quote(line + "\n")
			quoted = quoted[1 : len(quoted)-1]
			if rest, found := strings.CutPrefix(quoted, " "); found {
				quoted = `\x20` + rest
			}
			out.WriteString("\\\n" + indent + quoted)
		}
		return out.String() + `"`
	}
	out.WriteByte('|')
	if strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") {
		out.WriteByte('2')
	}
	for _, line := range lines {
		out.WriteByte('\n')
		if line != "" {
			out.WriteString(indent + line)
		}
	}
	return out.String()
}
