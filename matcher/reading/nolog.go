package reading

import (
	"github.com/gpu-triage/triage/matcher/kind"
)

// maxNoLogs bounds the sources of which a report says that they are no logs.
const maxNoLogs = 20

// maxHeads bounds the sources whose first lines are kept.
const maxHeads = 4

// judge looks at what kind of text the source is when it has been read to its end, and forgets what is no failure in such a text. Of a long
// one in which nothing was found nobody wants to know.
func (s *source) judge() {
	form := s.history.form
	s.progress.asked = form.AsksHelp()
	whole := len(s.head) < kind.HeadBytes
	s.keepHead(s.head)
	if s.head == nil || !whole && !s.events.in(s.name) {
		return
	}
	text := kind.Sample{Head: form.Unwrapped(s.head), Lines: s.progress.lines, Whole: whole}
	if !whole {
		text.Tail = form.Unwrapped(s.history.window.lastBytes())
	}
	is := s.kinds.of(text)
	if is.Kind == kind.Log || form.AsksHelp() && is.Kind.MayBeShown() {
		if whole && !s.machine[s.name] {
			s.statements.hear(form.Sentences(s.head))
		}
		return
	}
	s.events.forget(s.name, is)
	if is.Covers(s.progress.lines) {
		s.tails.forget(s.name)
	}
	if len(s.noLogs) < maxNoLogs && !s.events.in(s.name) {
		s.noLogs = append(s.noLogs, is.Kind.Note(s.name))
	}
}

// keepHead keeps the first bytes of the source, or as many of them as there are, for who asks what they show.
func (s *source) keepHead(head []byte) {
	head = head[:min(len(head), kind.HeadBytes)]
	if len(head) > 0 && len(s.heads) < maxHeads && !s.machine[s.name] {
		form := s.history.form
		s.heads = append(s.heads, Head{string(form.Unwrapped(head)), form.IsPost()})
	}
}

// in tells whether an event was seen in a source.
func (known events) in(source string) bool {
	for _, e := range known {
		if e.episodes[source] != nil {
			return true
		}
	}
	return false
}

// forget forgets the events of a source that is, up to a line, of another kind than a log. One traceback that a document quotes as a whole
// stays: so do people show what they ask about. Several are a list of what may happen.
func (known events) forget(source string, is kind.Judgement) {
	var quoted []*Event
	for _, e := range known {
		seen := e.episodes[source]
		if seen == nil || !is.Covers(seen.last.Line.Number) {
			continue
		}
		x := e.Chain.Head().Exception
		if x != nil && len(x.Frames) > 0 && x.Type != "" && is.Quotes(x.Line.Number) {
			quoted = append(quoted, e)
			continue
		}
		delete(e.episodes, source)
	}
	if len(quoted) > 1 {
		for _, e := range quoted {
			delete(e.episodes, source)
		}
	}
	for key, e := range known {
		if len(e.episodes) == 0 {
			delete(known, key)
		}
	}
}
