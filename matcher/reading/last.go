package reading

import (
	"slices"

	"github.com/gpu-triage/triage/rules/signature"
)

// last looks for short keywords in the last lines of the source, of which there are so many by now. What shows there may have been
// survived like anything else: progress counts from the first of it.
func (r *Reading) last(lines int) {
	failed := false
	r.history.each(lines, func(past *pastPart) {
		line := past.Line
		if !past.loose || line.Number <= r.history.asked {
			return
		}
		asked, el := Element{Line: line, Text: line.Text}, Element{Line: line, Text: line.Text, near: true}
		words := r.words(line.Text)
		r.match(words, &asked)
		if r.match(words, &el) && failed {
			r.progressed(line)
		}
		el.Matches = slices.DeleteFunc(el.Matches, func(s *signature.Signature) bool {
			return s.Role != signature.Noise && slices.Contains(asked.Matches, s)
		})
		if c := (Chain{el}); !c.harmless() {
			failed = true
			r.note(c, line)
		}
	})
	r.history.asked = max(r.history.asked, lines)
}
