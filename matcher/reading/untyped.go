package reading

import (
	"maps"
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/signature"
)

// usualTypes are Python's exceptions that messages without their type are most often of.
var usualTypes = []string{
	"RuntimeError", "ValueError", "TypeError", "AttributeError", "ImportError", "ModuleNotFoundError", "KeyError", "IndexError", "OSError",
	"FileNotFoundError", "AssertionError", "NotImplementedError", "NameError", "PermissionError", "ConnectionError", "TimeoutError",
	"MemoryError", "EOFError", "RecursionError", "Exception",
}

// maxGuessed is the longest message, in bytes, whose type is guessed: each guess takes as long as the message is.
const maxGuessed = 2 << 10

// untyped is an exception with the signatures that may know it. Where its type was not printed, it is the one by which the most do.
func (m *matching) untyped(x *traceback.Exception, watching bool, before func() string) Element {
	el := m.typed(x, watching, before)
	if !x.Untyped() || len(x.Message) > maxGuessed {
		return el
	}
	types := usualTypes
	if typ := x.StatedType(); typ != "" {
		if stated := m.stated(el, typ, watching, before); len(stated.Matches) > 0 {
			return stated
		}
		types = nil
	}
	key := x.Message + "\x00" + x.Owner()
	if typ, again := m.guessed[key]; again { // on another rank, or once more
		types = typ
	}
	best, known, found := el, m.knownUntyped(el), []string{}
	for _, typ := range types {
		if guess := m.guess(el, typ, watching, before); len(specific(guess)) > known {
			best, known, found = guess, len(specific(guess)), []string{typ}
		}
	}
	if len(m.guessed) == maxGuesses || m.guessed == nil {
		m.guessed = make(map[string][]string)
	}
	m.guessed[key] = found
	return best
}

// maxGuesses bounds the messages whose types are remembered.
const maxGuesses = 256

// knownUntyped counts the specific signatures that know an exception by its message, whatever its type is.
func (m *matching) knownUntyped(el Element) (known int) {
	el.Variables(m.situation)
	silent := m.situation.Clone()
	el.VariablesWithoutMessage(silent)
	for _, s := range specific(el) {
		if slices.ContainsFunc(s.Match, func(c *condition.Expression) bool { return c.Eval(m.situation).True() && !c.Eval(silent).Known() }) {
			known++
		}
	}
	return known
}

// caught is the exception that a line tells of by its message alone, where a signature knows that, or where the line is all that there is
// and the message is one of Python's own. Else the chain is empty.
func (s *source) caught(line logline.Line) Chain {
	alone := s.progress.lines == 1
	message, ok := traceback.CaughtMessage(line, alone)
	if !ok || len(message) > maxGuessed {
		return nil
	}
	m, x := &s.matching, &traceback.Exception{Line: line, Level: line.Level, Message: message}
	before := func() string { return s.history.before(line) }
	if alone && traceback.OwnMessage(message) {
		return Chain{m.untyped(x, s.progress.watching, before)}
	}
	el := m.typed(x, s.progress.watching, before)
	if m.knownUntyped(el) == 0 {
		return nil
	}
	el.Matches = specific(el)
	return Chain{el}
}

// stated is an exception whose type was not printed with it, with the type that the rest of the print states.
func (m *matching) stated(as Element, typ string, watching bool, before func() string) Element {
	el := as.retyped(typ, as.Exception.Message)
	m.match(&el, m.words(el.Text), prefilter.InException, watching, before)
	return el
}

// guess is an exception whose type was not printed, as if it were of that type. A signature that would know it by the type alone does not count.
func (m *matching) guess(as Element, typ string, watching bool, before func() string) Element {
	el := as.retyped(typ, as.Exception.Message)
	if !m.maySpecific(el.Text) {
		return Element{}
	}
	m.match(&el, m.words(el.Text), prefilter.InException, watching, before)
	if len(specific(el)) > 0 {
		byType := as.retyped(typ, "?")
		m.match(&byType, m.words(byType.Text), prefilter.InException, watching, before)
		el.Matches = slices.DeleteFunc(el.Matches, func(s *signature.Signature) bool { // what says that it does not know the cause stays, for when none holds
			return !s.Role.LastResort() && slices.Contains(byType.Matches, s)
		})
	}
	return el
}

// retyped is an exception of another type, with another message. Its frames are the same.
func (el Element) retyped(typ, message string) Element {
	x := *el.Exception
	x.Type, x.Message = typ, message
	members := maps.Clone(el.exceptionValue().Members())
	members["type"], members["name"] = condition.StringValue(x.Type), condition.StringValue(x.Name())
	members["message"], members["call"] = condition.StringValue(x.Message), condition.StringValue(x.Call())
	return Element{Line: el.Line, Exception: &x, Text: x.Text(), value: condition.ObjectValue(members)}
}

// maySpecific tells cheaply of most exceptions that no signature knows them which says more than a generic word.
func (m *matching) maySpecific(text string) bool {
	m.known = m.filter.Candidates(text, m.words(text), prefilter.InLastLines, m.known[:0]) // short words count, generic ones do not
	return slices.ContainsFunc(m.known, func(e *signature.Entry) bool { return !e.Role.LastResort() })
}

// specific are the signatures of an element that say more than a generic word.
func specific(el Element) (known []*signature.Signature) {
	for _, s := range el.Matches {
		if !s.Role.LastResort() {
			known = append(known, s)
		}
	}
	return known
}
