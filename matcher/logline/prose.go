package logline

import (
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// Sentence is what a person wrote in a post, up to a full stop.
type Sentence struct {
	Line Line   // that it begins in, with the sentence as its text
	Text string // the same
	Code bool   // it is a line of code that stands between sentences
}

// Bounds of the sentences of a post.
const (
	maxSentences = 400
	shortLine    = 40 // bytes of a line, at least, that was wrapped and goes on in the next
)

var (
	// printed begins a line that a program printed, or that tells what one is to do.
	printed = pattern.Lazy(`^\s*(?:[` + "`" + `"*]{0,3}\S*(?:Error|Exception|Warning)\b[^ ]*: |File "|Traceback \(|\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|>>> |\$ |[+-]{3} |@@ |[|{}<]|import \w|from [\w.]+ import |FROM \S|RUN )`)
	// codeLine is a line that is one call, assignment or option.
	codeLine = pattern.Lazy(`^[\w.\[\]"']+\(.*\)$|^[\w.\[\]"']+ ?= ?\S.*$|^--?[\w-]+(?:[= ]\S+)?$`)
	// stop is where a sentence ends.
	stop = pattern.Lazy(`[.!?;](?:["')]{0,2}\s+|$)|[。！？；]`)
	// box is before a sentence of the form that a tracker gives to fill in.
	box = pattern.Lazy(`^\s*[-*+] \[[ xX]\] `)
	// lead is what Markdown puts before a sentence: a quotation, a heading, an item of a list.
	lead = pattern.Lazy(`^\s*(?:>\s?)*\s*(?:#{1,6} |[-*+] |\d{1,2}[.)] )?`)
)

// Sentences are what a person wrote in the source, if it is a post, of which text is the whole: nothing between fences, and nothing that a
// program printed.
func (f *Form) Sentences(text []byte) []Sentence {
	if !f.post {
		return nil
	}
	var all []Sentence
	for _, p := range f.paragraphs(string(text)) {
		if codeLine().MatchString(p.Text) {
			p.Code = true
			all = append(all, p)
			continue
		}
		for rest := p.Text; rest != "" && len(all) < maxSentences; {
			end := len(rest)
			if at := stop().FindStringIndex(rest); at != nil {
				end = at[1]
			}
			if said := strings.TrimSpace(rest[:end]); said != "" {
				line := p.Line
				line.Text = said
				all = append(all, Sentence{Line: line, Text: said})
			}
			rest = rest[end:]
		}
	}
	return all
}

// paragraphs are the lines that a person wrote, those that go on in the next as one.
func (f *Form) paragraphs(text string) []Sentence {
	var all []Sentence
	fenced, wrapped := false, false
	for i, raw := range strings.Split(text, "\n") {
		said := strings.TrimSpace(raw[len(lead().FindString(raw)):])
		if strings.HasPrefix(said, Fence) || strings.HasPrefix(said, "~~~") {
			fenced, wrapped = !fenced, false
			continue
		}
		if fenced || said == "" || box().MatchString(raw) || i > 0 && f.ofProgram(raw) {
			wrapped = false
			continue
		}
		if len(said) >= maxSentence {
			wrapped = false // it is left out, so there is nothing that the line below it could go on with
			continue
		}
		if wrapped && goesOnBelow(said) && len(all[len(all)-1].Text)+len(said) < maxSentence {
			all[len(all)-1].Text += " " + said
		} else {
			all = append(all, Sentence{Line: Line{Source: f.source, Number: i + 1, Rank: NoRank, Text: said}, Text: said})
		}
		wrapped = len(said) >= shortLine && !stop().MatchString(said[len(said)-1:])
	}
	return all
}

// goesOnBelow tells whether a line may go on with what the one above it began.
func goesOnBelow(said string) bool {
	return said[0] >= 'a' && said[0] <= 'z' && !codeLine().MatchString(said)
}

// ofProgram tells whether a line was printed by a program, or is code that is set in.
func (f *Form) ofProgram(raw string) bool {
	if strings.HasPrefix(raw, "    ") || strings.HasPrefix(raw, "\t") || printed().MatchString(raw) {
		return true
	}
	line := f.parse(f.clean([]byte(raw)), Line{Rank: NoRank})
	return line.Level != "" || line.Head > 0 || !line.Time.IsZero() || line.Rank != NoRank
}
