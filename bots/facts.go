package bots

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/spelling"
)

// A fact as people write it: name=value, where a value with spaces stands in double quotes.
var factWord = regexp.MustCompile(`^([a-z][a-z0-9_]*(?:\.[A-Za-z0-9_]+|\[\d+\])*)=("[^"\n]*"|[^\s"]\S*)(?:\s+|$)`)

// LeadingFacts takes the name=value words that a text begins with and returns them with what follows them. Only
// names that mean something count: a log that begins with "lr=0.1" is a log.
func (e Engine) LeadingFacts(text string) (facts map[string]string, rest string) {
	facts = map[string]string{}
	rest = strings.TrimLeft(text, " \t\r\n")
	for {
		m := factWord.FindStringSubmatch(rest)
		if m == nil {
			return facts, rest
		}
		if _, known := e.Matcher.Base().Vocabulary.Fact(m[1]); !known {
			return facts, rest
		}
		facts[m[1]] = strings.Trim(m[2], `"`)
		rest = rest[len(m[0]):]
	}
}

// maxUnknown words are looked at.
const maxUnknown = 8

// Unknown are sentences about the name=value words that a text begins with and that are no facts. A log may begin with such words too, but
// then its next line does as well.
func (e Engine) Unknown(text string) (complaints []string) {
	vocabulary := e.Matcher.Base().Vocabulary
	line, after, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n"), "\n")
	for range maxUnknown {
		m := factWord.FindStringSubmatch(line)
		if m == nil {
			break
		}
		if _, known := vocabulary.Fact(m[1]); !known {
			complaints = append(complaints, unknownFact(m[1], vocabulary))
		}
		line = line[len(m[0]):]
	}
	if strings.TrimSpace(line) == "" && factWord.MatchString(strings.TrimLeft(after, " \t\r\n")) {
		return nil
	}
	return complaints
}

// meant is the fact that somebody means who writes a name that is none, or "".
func meant(name string, vocabulary *fact.Vocabulary) string {
	near := spelling.Nearest(name, vocabulary.Names())
	if difference := len(near) - len(name); len(name) < 5 || near == "" || difference < -1 || difference > 1 || near == strings.TrimRight(name, "0123456789") {
		return ""
	}
	return near
}

// AllFacts takes every name=value word of a line, known or not.
func AllFacts(line string) map[string]string {
	facts := map[string]string{}
	for rest := strings.TrimSpace(line); rest != ""; {
		if m := factWord.FindStringSubmatch(rest); m != nil {
			facts[m[1]] = strings.Trim(m[2], `"`)
			rest = rest[len(m[0]):]
			continue
		}
		_, after, _ := strings.Cut(rest, " ")
		rest = strings.TrimSpace(after)
	}
	return facts
}

// Usable parts facts into those that can be used and sentences about the others.
func (e Engine) Usable(facts map[string]string) (usable map[string]string, complaints []string) {
	usable = make(map[string]string, len(facts))
	vocabulary := e.Matcher.Base().Vocabulary
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if _, err := vocabulary.Known(name); err != nil {
			complaints = append(complaints, unknownFact(name, vocabulary))
			continue
		}
		if _, err := vocabulary.Parse(name, facts[name]); err != nil {
			complaints = append(complaints, "I did not use the fact "+quoted(name)+": "+short(strings.TrimPrefix(err.Error(), name+": "))+".")
			continue
		}
		usable[name] = facts[name]
	}
	return usable, complaints
}

// unknownFact says that a name means nothing, and what would.
func unknownFact(name string, vocabulary *fact.Vocabulary) string {
	text := "No fact is named " + quoted(name) + ", so I did not use it."
	if near := meant(name, vocabulary); near != "" {
		return text + fmt.Sprintf(" Did you mean `%s`?", near)
	}
	return text + " Facts are what the log does not say, such as `torch=2.6.0`, `gpu=\"NVIDIA H100\"` or `env.NCCL_DEBUG=INFO`."
}
