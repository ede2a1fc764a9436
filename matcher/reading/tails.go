package reading

import (
	"bytes"
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/rootline"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// tails are the last lines of the sources, in which the root line is looked for when no cause is known.
type tails struct {
	finder func() *rootline.Finder
	filter *prefilter.Filter
	scope  *condition.Scope
	all    []rootline.Tail
	bytes  int
}

// tailBytes are the last bytes of a source that are kept: two chunks hold them, so that hardly any are copied. They are no fewer than those
// that a sample of the pace reads again.
const tailBytes = 2 * pace.LastBytes

// maxTails bounds the bytes of all tails: jobs with more than some dozen logs are those of many ranks, whose signatures are known.
const maxTails = 32 << 20

// add keeps the last lines of a source of so many lines and bytes, of which data are the last bytes.
func (t *tails) add(form *logline.Form, data []byte, bytesInAll int64, lines int) {
	if bytesInAll > tailBytes {
		data = data[len(data)-tailBytes:]
		_, data, _ = bytes.Cut(data, []byte{'\n'})
	}
	if len(data) == 0 || t.bytes+len(data) > maxTails {
		return
	}
	t.bytes += len(data)
	first := lines - bytes.Count(data, []byte{'\n'}) + 1
	if data[len(data)-1] != '\n' {
		first--
	}
	t.all = append(t.all, rootline.Tail{Form: form, First: first, Data: data})
}

// forget forgets the tail of a source that is no log.
func (t *tails) forget(source string) {
	t.all = slices.DeleteFunc(t.all, func(tail rootline.Tail) bool { return tail.Form.Source() == source })
}

// rootLine is the first finding in a tail, one that is sure before others.
func (t *tails) rootLine() *rootline.Finding {
	var first *rootline.Finding
	for _, tail := range t.all {
		found := t.finder().Find(tail)
		if found != nil && found.Sure {
			return found
		}
		if first == nil {
			first = found
		}
	}
	return first
}

// asked is the first line in a tail that tells what somebody asks about who shows no failure of a program.
func (t *tails) asked() *rootline.Finding {
	for _, tail := range t.all {
		tail.Known = t.known()
		if found := t.finder().Asked(tail); found != nil {
			return found
		}
	}
	return nil
}

// known tells what signatures say of a line: that it is harmless, or that the program makes progress.
func (t *tails) known() func(logline.Line) (harmless, progress bool) {
	m := matching{filter: t.filter, situation: t.scope.NewSituation()}
	return func(line logline.Line) (harmless, progress bool) {
		el := Element{Line: line, Text: line.Text}
		words := m.words(line.Text)
		if len(words) == 0 || len(words) > maxWords {
			return false, false
		}
		progress = m.match(&el, words, prefilter.InLine, true, nil) == signature.Progress
		harmless = slices.ContainsFunc(m.known, func(e *signature.Entry) bool {
			return e.Role == signature.Noise && condition.All(e.Signature().Match, m.situation)
		})
		return harmless, progress
	}
}
