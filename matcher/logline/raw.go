package logline

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/scan"
)

// What stands in the text of a line need not stand so in its bytes. Whoever looks for words in raw bytes asks here what that means.

const (
	// docker is how a line begins that Docker's json-file driver wrote.
	docker = `{"log":"`
	escape = 0x1b
)

// unwrapDocker takes a line out of the JSON that Docker's json-file driver puts around it.
func unwrapDocker(text string) (string, time.Time) {
	var entry struct {
		Log  string `json:"log"`
		Time string `json:"time"`
	}
	if err := json.Unmarshal([]byte(text), &entry); err != nil {
		return text, time.Time{}
	}
	line := strings.TrimRight(entry.Log, "\r\n")
	line = strings.ReplaceAll(line[strings.LastIndexByte(line, '\r')+1:], "\n", " ")
	written, _ := time.Parse(time.RFC3339Nano, entry.Time) // a line without a time that can be read is a line all the same
	return printable([]byte(line)), written.UTC()
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
	return strings.IndexByte(raw, escape) >= 0 || strings.HasPrefix(raw, docker)
}

// MayJoin tells whether cleaning a raw line may join what stands apart in its bytes, or leave out some of it in the middle.
func MayJoin(raw []byte) bool {
	return joinsQuoted(raw) || slices.ContainsFunc(repeating, func(has []byte) bool { return bytes.Contains(raw, has) })
}

// repeating is what lines have in them whose prefix comes again in their middle.
var repeating = func() (all [][]byte) {
	for i := range prefixForms {
		if prefixForms[i].again {
			all = append(all, []byte(prefixForms[i].has))
		}
	}
	return slices.CompactFunc(all, bytes.Equal)
}()

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
