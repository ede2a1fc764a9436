package matcher

import (
	"github.com/gpu-triage/triage/rules"
)

// Engine diagnoses logs with a knowledge base. It does not change and may be shared.
type Engine struct {
	base     *rules.Base
	words    *keywords
	interest []interest         // by the number of the keyword
	generic  []*rules.Signature // asked about every exception
}

// interest is who wants to see a line with a certain keyword.
type interest struct {
	signature *rules.Signature
	reader    *rules.FactReader
	packages  bool // reader is one of lines that name packages
	dict      *rules.DictReader
	trail     string // a library whose trail the line is part of
}

// New prepares an engine.
func New(base *rules.Base) *Engine {
	e := &Engine{base: base}
	var words []string
	add := func(word string, i interest) {
		words = append(words, word)
		e.interest = append(e.interest, i)
	}
	for _, s := range base.Signatures {
		if s.Role == rules.Generic {
			e.generic = append(e.generic, s)
		}
		for _, word := range s.Keywords {
			add(word, interest{signature: s})
		}
	}
	v := base.Vocabulary
	for i := range v.Readers {
		for _, word := range v.Readers[i].Keywords {
			add(word, interest{reader: &v.Readers[i]})
		}
	}
	for i := range v.PackageLines {
		for _, word := range v.PackageLines[i].Keywords {
			add(word, interest{reader: &v.PackageLines[i], packages: true})
		}
	}
	for i := range v.Dicts {
		add(v.Dicts[i].Marker, interest{dict: &v.Dicts[i]})
	}
	for _, t := range v.Trails {
		for _, word := range t.Keywords {
			add(word, interest{trail: t.Library})
		}
	}
	e.words = newKeywords(words)
	return e
}

// Base is the knowledge base that the engine diagnoses with.
func (e *Engine) Base() *rules.Base { return e.base }
