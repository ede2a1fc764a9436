package matcher

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/scan"
)

// dockerLog is how a line begins that Docker's json-file driver wrote.
const dockerLog = `{"log":"`

// unwrap takes a line out of the JSON that Docker's json-file driver puts around it.
func unwrap(text string) (string, time.Time) {
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

// quoted adds to literals what stands for them in JSON.
func quoted(literals []scan.Literal) []scan.Literal {
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

// joinsQuoted tells whether taking a line out of its JSON may join what stands apart in its bytes, or leave some of it out: it has other
// than characters that stand for themselves.
func joinsQuoted(raw []byte) bool {
	for at := bytes.IndexByte(raw, '\\'); at >= 0 && at+1 < len(raw); {
		switch code := string(raw[at+1 : min(at+6, len(raw))]); {
		case strings.ContainsRune(`"\/nt`, rune(code[0])):
		case strings.HasPrefix(code, "u") && !strings.HasPrefix(code, "u00"):
		case slices.Contains([]string{"u0009", "u0026", "u0027", "u003c", "u003e"}, code):
		default:
			return true
		}
		next := bytes.IndexByte(raw[at+2:], '\\')
		if next < 0 {
			return false
		}
		at += 2 + next
	}
	return false
}
