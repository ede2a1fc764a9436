package logline

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/scan"
)

// What stands in the text of a line need not stand so in its bytes. Whoever looks for words in raw bytes asks here what that means.

const (
	// docker is how a line begins that Docker's json-file driver wrote.
	docker = `{"log":"`
	escape = 0x1b
)

// linesOf makes the text of a record plain, line by line. What a carriage return parts are lines, too.
func linesOf(text string) string {
	text = strings.TrimRight(text, "\r\n")
	if !strings.ContainsAny(text, "\r\n") {
		return printable([]byte(text))
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		parts := strings.Split(strings.TrimRight(line, "\r"), "\r")
		for _, part := range parts {
			text := printable([]byte(part))
			if text != "" || len(parts) == 1 {
				lines = append(lines, text)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// isNotebook tells whether a file is a notebook of Jupyter, which is JSON of many lines.
func isNotebook(head []byte) bool {
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head[:min(len(head), 200)], []byte("\n \"cells\": ["))
}

// notebookIndent is how far the lines of outputs are set in, in the way in which Jupyter writes its files: those of the cells' code are less.
const notebookIndent = `      "`

// notebookLine is what a line of a notebook's file has of the outputs, "" for nothing.
func notebookLine(raw []byte) string {
	line := strings.TrimSuffix(string(raw), ",")
	if !strings.HasPrefix(line, notebookIndent) {
		return ""
	}
	var text string
	if err := json.Unmarshal([]byte(strings.TrimSpace(line)), &text); err != nil {
		return ""
	}
	return linesOf(text)
}

// levelsDiffer tells whether the first records in JSON have levels, and not all the same one: else it is the collector's.
func levelsDiffer(head []byte) bool {
	levels := map[Level]bool{}
	for range maxSample {
		raw, rest, _ := bytes.Cut(head, []byte{'\n'})
		if len(raw) > 0 && raw[0] == '{' {
			if r, ok := parseJSON(string(bytes.TrimRight(raw, "\r"))); ok && r.level != "" {
				levels[r.level] = true
			}
		}
		if len(levels) > 1 {
			return true
		}
		head = rest
	}
	return false
}

// How Docker quotes, and how other writers of JSON do. What else they quote is in no literal.
var (
	dockerQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\u0009`, "<", `\u003c`, ">", `\u003e`, "&", `\u0026`)
	otherQuotes  = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
)

// RawForms are literals together with the forms in which they stand in the bytes of lines that are quoted as JSON: a line whose text has
// one of the literals has one of the forms in its bytes, unless HidesWords says otherwise.
func RawForms(literals []scan.Literal) []scan.Literal {
	literals = slices.Clip(literals) // others have them too
	for _, l := range literals {
		for _, quotes := range []*strings.Replacer{dockerQuotes, otherQuotes} {
			in := scan.Literal{Text: quotes.Replace(l.Text), Fold: l.Fold}
			if !slices.Contains(literals, in) {
				literals = append(literals, in)
			}
		}
	}
	return literals
}

// HidesWords tells whether a word in the text of a raw line may stand otherwise in its bytes: colour codes may interrupt it, or JSON
// may quote it.
func HidesWords(raw string) bool {
	return strings.IndexByte(raw, escape) >= 0 || strings.Contains(raw, `{"`)
}

// MayJoin tells whether cleaning a raw line may join what stands apart in its bytes, or leave out some of it in the middle.
func MayJoin(raw []byte) bool {
	return joinsQuoted(raw) || !bytes.HasPrefix(raw, []byte(docker)) && bytes.Contains(raw, []byte(`{"`)) || slices.ContainsFunc(forms().again, func(has []byte) bool { return bytes.Contains(raw, has) })
}

// joinsQuoted tells whether taking a line out of its JSON may join what stands apart in its bytes, or leave some of it out: it has other
// than characters that stand for themselves.
func joinsQuoted(raw []byte) bool {
	if !bytes.HasPrefix(raw, []byte(docker)) {
		return false
	}
	for {
		_, code, found := bytes.Cut(raw, []byte{'\\'})
		if !found || len(code) == 0 {
			return false
		}
		switch code := string(code[:min(5, len(code))]); {
		case strings.IndexByte(`"\/nt`, code[0]) >= 0:
		case code[0] == 'u' && !strings.HasPrefix(code, "u00"):
		case slices.Contains([]string{"u0009", "u0026", "u0027", "u003c", "u003e"}, code):
		default:
			return true
		}
		raw = code[1:]
	}
}
