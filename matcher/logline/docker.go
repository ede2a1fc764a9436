package logline

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/scan"
)

// dockerLog is how a line begins that Docker's json-file driver wrote.
const DockerLog = `{"log":"`

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

// quoted are literals and what stands for them in JSON.
func Quoted(literals []scan.Literal) []scan.Literal {
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

// joinsQuoted tells whether taking a line out of its JSON may join what stands apart in its bytes, or leave some of it out: it has other
// than characters that stand for themselves.
func JoinsQuoted(raw []byte) bool {
	if !bytes.HasPrefix(raw, []byte(DockerLog)) {
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
