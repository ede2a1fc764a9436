package reading

import (
	"slices"

	"github.com/gpu-triage/triage/matcher/traceback"
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
	if x.Untyped() && len(x.Message) <= maxGuessed {
		known := len(specific(el))
		for _, typ := range usualTypes {
			if guess := m.guess(x, typ, watching, before); len(specific(guess)) > known {
				el, known = guess, len(specific(guess))
			}
		}
	}
	return el
}

// guess is an exception whose type was not printed, as if it were of that type. A signature that would know it by the type alone does not count.
func (m *matching) guess(x *traceback.Exception, typ string, watching bool, before func() string) Element {
	guess, other := *x, *x
	guess.Type, other.Type, other.Message = typ, typ, "?"
	el := m.typed(&guess, watching, before)
	if len(specific(el)) > 0 {
		byType := m.typed(&other, watching, before)
		el.Matches = slices.DeleteFunc(el.Matches, func(s *signature.Signature) bool { return slices.Contains(byType.Matches, s) })
	}
	return el
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
