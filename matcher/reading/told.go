package reading

import (
	"bytes"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/pattern"
)

// maxTold is how many lines of a post are asked about, each of them by the classes that its author may have left out.
const maxTold = 24

// told looks, in a post in which nothing else was found, at what its author says that failed: the title, what is quoted, and what stands below
// a sentence that announces an error. People leave the class of an exception out. Where no signature knows any of it, the first message that
// was announced is what the answer shows.
func (s *source) told(head []byte) {
	form := s.history.form
	if !form.IsPost() || s.events.in(s.name) {
		return
	}
	var unknown *logline.Line
	for _, line := range toldLines(form, head) {
		known := s.known(line)
		if len(known) > 0 && !known.harmless() {
			s.note(known, line) // and so the next: once all facts are known this one may turn out to be nothing
			continue
		}
		if unknown == nil && line.Number > 1 && form.AsksHelp() && logline.Failed(line.Text) {
			unknown = &line
		}
	}
	if unknown != nil && !s.events.in(s.name) {
		s.note(Chain{s.quoted(*unknown)}, *unknown)
	}
}

// status is the code, before the words of a message, that gRPC and absl give to every error.
var status = pattern.Lazy(`(?:^|\s)(?:CANCELLED|UNKNOWN|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED|` +
	`OUT_OF_RANGE|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS|UNAUTHENTICATED): \S`)

// toldLines are the lines of a post that may be messages of errors.
func toldLines(form *logline.Form, head []byte) (told []logline.Line) {
	number, announced := 0, false
	for raw := range bytes.Lines(head) {
		number++
		_, _ = form.Clean(number, bytes.TrimRight(raw, "\n"), func(line logline.Line) error {
			if line.Text == "" {
				return nil
			}
			own := traceback.OwnMessage(line.Text) || status().MatchString(line.Text)
			if (line.Told || announced || own || number == 1) && line.Level == "" && !logline.Spoken(line.Text) && len(told) < maxTold {
				told = append(told, line)
			}
			announced = logline.Announces(line.Text) && (number > 1 || strings.HasSuffix(line.Text, ":"))
			return nil
		})
	}
	return told
}

// known is what a line tells of by its message alone, if a signature knows that.
func (s *source) known(line logline.Line) Chain {
	message, ok := traceback.CaughtMessage(line, true)
	if !ok || len(message) > maxGuessed {
		return nil
	}
	x := &traceback.Exception{Line: line, Level: line.Level, Message: message}
	el := s.matching.untyped(x, s.progress.watching, nil)
	if traceback.OwnMessage(message) {
		return Chain{el}
	}
	el.Matches = specific(el)
	if len(el.Matches) == 0 {
		return nil
	}
	return Chain{el}
}

// quoted is an exception of which nothing is known but the message.
func (s *source) quoted(line logline.Line) Element {
	return s.matching.typed(&traceback.Exception{Line: line, Message: line.Text}, s.progress.watching, nil)
}
