// Package command knows what a command of a fix is (Kind) and how a value of a log gets into it (Line). Whoever controls a log writes
// the paths and names that stand in it, and people copy what we tell them to run: a value is therefore quoted for its place, and where no
// quoting makes it harmless it is refused, so that what a command does never depends on what a value says.
package command

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a command is written in, and so where it can be pasted.
type Kind string

// The kinds of commands.
const (
	Sh     Kind = "sh"     // a line for a shell
	Python Kind = "python" // a statement or expression of Python, or a part of one
	Flag   Kind = "flag"   // words to add to a command line
	Config Kind = "config" // a line of a configuration file or a job script
	Text   Kind = "text"   // words for a person, nothing to paste
)

var kinds = []Kind{Sh, Python, Flag, Config, Text}

// Line is a command with places for values.
type Line struct {
	kind   Kind
	texts  []string // what stands around the places: one more than there are places
	places []place
}

// place puts a value into the form in which it can stand there; not ok when it must not.
type place func(value string) (text string, ok bool)

// Parse reads a command that was cut at its places: texts has one element more than there are places. The first begins with the kind, as
// in "python: import torch", unless that is plain. An error tells what the author of the command has to change.
func Parse(texts []string) (*Line, error) {
	texts = append([]string{}, texts...)
	kind, rest := kindOf(texts[0])
	texts[0] = rest
	l := &Line{kind: kind, texts: texts}
	shape, err := readShell(texts, kind)
	if kind == "" {
		if l.kind = plainKind(shape, err); l.kind == "" {
			return l, fmt.Errorf("it is not plain what this is; begin it with its kind: sh, python, flag, config or text, as in sh: %s", strings.Join(texts, "..."))
		}
	}
	l.places, err = placesOf(l.kind, texts, shape, err)
	if err == nil && strings.TrimSpace(strings.Join(texts, "x")) == "" {
		err = fmt.Errorf("the command of kind %s is empty", l.kind)
	}
	return l, err
}

// placesOf are the places of a command of a known kind, of which a shell said that.
func placesOf(kind Kind, texts []string, shape *shell, err error) ([]place, error) {
	switch kind {
	case Python:
		return pythonPlaces(texts)
	case Config:
		return configPlaces(texts), nil
	case Text:
		return slices.Repeat([]place{asItIs}, len(texts)-1), nil
	}
	if err != nil {
		return nil, fmt.Errorf("a shell does not take this: %w", err)
	}
	return shape.places, nil
}

// kindOf takes the kind off the beginning of a command; "" when none is written there.
func kindOf(text string) (kind Kind, rest string) {
	for _, k := range kinds {
		if rest, found := strings.CutPrefix(text, string(k)+":"); found && (rest == "" || rest[0] == ' ' || rest[0] == '\n') {
			return k, strings.TrimLeft(rest, " \n")
		}
	}
	return "", text
}

// Kind is what the command is written in.
func (l *Line) Kind() Kind { return l.kind }

// Fill is the command with a value in each of its places, and words of the author's own where a value is nil. Not ok: a value has no
// business there, and the command must not be shown.
func (l *Line) Fill(values []Value) (text string, ok bool) {
	var b strings.Builder
	b.WriteString(l.texts[0])
	for i, v := range values {
		text := v.Text
		if !v.Trusted {
			if !sayable(text) {
				return "", false
			}
			if text, ok = l.places[i](text); !ok {
				return "", false
			}
		}
		b.WriteString(text)
		b.WriteString(l.texts[i+1])
	}
	return b.String(), true
}

// Value is what stands in a place. A trusted one is the author's own words and is taken as it is.
type Value struct {
	Text    string
	Trusted bool
}
