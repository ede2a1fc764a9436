package signature

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/spelling"
)

// Example is a log with its verdict, as it stands in the file of a signature under examples:.
type Example struct {
	Source     string            // where the log is from
	Provenance string            // one of Provenances
	Facts      map[string]string // what only the user knows, in the words of Vocabulary.Parse
	Answer     Answer
	Line       int      // of the log, from 1: the answer's first evidence; 0 when there is no answer
	Rank       *int     // that failed first; nil when it does not matter
	Not        []string // the signatures that must not be diagnosed
	Log        string
	Place      rulefile.Problem // where the answer is written; Message is empty

	owner   string // the signature with which it stands
	file    string // the whole content
	written exampleFile
}

// Owner is the signature with which the example stands.
func (e Example) Owner() string { return e.owner }

// Answer is the root cause that an example must get. Without an ID nothing may be diagnosed.
type Answer struct {
	ID        string
	Certainty string // one of Certainties
}

// Certainties are the words for how sure an answer is.
var Certainties = []string{"confirmed", "likely", "unexplained"}

// Provenances say how a log came to be: somebody's run had it, it was made to fail, or a person wrote it.
var Provenances = []string{"real", "reproduced", "written"}

// exampleFile is the form of one entry under examples:.
type exampleFile struct {
	Source     rulefile.Text            `yaml:"source"`
	Provenance rulefile.Text            `yaml:"provenance"`
	Facts      map[string]rulefile.Text `yaml:"facts"`
	Answer     rulefile.Text            `yaml:"answer"`
	Line       rulefile.Text            `yaml:"line"`
	Rank       rulefile.Text            `yaml:"rank"`
	Not        []rulefile.Text          `yaml:"not"`
	Log        rulefile.Text            `yaml:"log"`
}

// ExamplesKey begins the last part of a signature's file. What stands before it is all that a diagnosis needs.
const ExamplesKey = "examples:"

// CutExamples parts a signature's file before its examples, which are empty when it has none.
func CutExamples(content []byte) (knowledge, examples []byte) {
	if bytes.HasPrefix(content, []byte(ExamplesKey)) {
		return nil, content
	}
	if at := bytes.Index(content, []byte("\n"+ExamplesKey)); at >= 0 {
		return content[:at+1], content[at+1:]
	}
	return content, nil
}

// knowledge takes the examples off a signature's file, and refuses keys that would be lost with them.
func knowledge(d *rulefile.Decoder, content []byte) []byte {
	before, examples := CutExamples(content)
	at := bytes.Count(before, []byte{'\n'})
	for line := range bytes.Lines(examples) {
		at++
		if key, _, found := bytes.Cut(line, []byte{':'}); found && !bytes.ContainsAny(line[:1], " \t#-") && !bytes.HasPrefix(line, []byte(ExamplesKey)) {
			d.Problem(at, 1, "examples: stands last in a file; move %s: above it", key)
		}
	}
	return before
}

// ExampleReader reads the examples of signatures of one knowledge base.
type ExampleReader struct {
	Vocabulary *fact.Vocabulary
	IDs        []string // of all signatures, sorted
}

// Read reads the examples of one signature, in their order. The problems tell every mistake with its place.
func (r ExampleReader) Read(s *Signature) ([]Example, rulefile.Problems, error) {
	content, err := fs.ReadFile(s.files, s.Place.File)
	if err != nil {
		return nil, nil, err
	}
	before, examples := CutExamples(content)
	if examples == nil {
		return nil, nil, nil
	}
	d := &rulefile.Decoder{File: s.Place.File}
	// Empty lines in the place of what stands before keep the places of mistakes right.
	padded := slices.Concat(bytes.Repeat([]byte{'\n'}, bytes.Count(before, []byte{'\n'})), examples)
	file, _ := rulefile.Read[struct {
		Examples []exampleFile `yaml:"examples"`
	}](d, padded)
	if len(d.Problems) > 0 {
		return nil, d.Problems, nil
	}
	whole, read := string(content), make([]Example, len(file.Examples))
	for i, written := range file.Examples {
		read[i] = r.example(d, s, written)
		read[i].file = whole
	}
	slices.SortStableFunc(d.Problems, func(a, b rulefile.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return read, d.Problems, nil
}

// example reads one entry of examples:.
func (r ExampleReader) example(d *rulefile.Decoder, s *Signature, f exampleFile) Example {
	at := cmp.Or(f.Answer.Line, f.Source.Line, f.Log.Line)
	e := Example{
		Source: f.Source.Value, Provenance: cmp.Or(f.Provenance.Value, "written"), Facts: make(map[string]string), Log: f.Log.Value,
		Place: rulefile.Problem{File: d.File, Line: at, Column: max(f.Answer.Column, 1)}, owner: s.ID, written: f,
	}
	if strings.TrimSpace(e.Source) == "" {
		d.Problem(at, 1, "an example needs source: where its log is from")
	}
	unfinished := strings.HasPrefix(e.Provenance, unfinishedMark) // which Unfinished tells
	if !unfinished && !slices.Contains(Provenances, e.Provenance) {
		d.Problem(f.Provenance.Line, f.Provenance.Column, "the provenance is real, reproduced or written, not %q", e.Provenance)
	}
	if strings.TrimSpace(e.Log) == "" {
		d.Problem(at, 1, "an example needs log: the lines that are read")
	}
	for name, text := range f.Facts {
		if _, err := r.Vocabulary.Parse(name, text.Value); err != nil {
			d.Problem(text.Line, text.Column, "%v", err)
		}
		e.Facts[name] = text.Value
	}
	for _, id := range f.Not {
		r.mustKnow(d, id, id.Value)
		e.Not = append(e.Not, id.Value)
	}
	r.answer(d, s, &e)
	if f.Rank.Value != "" {
		rank := number(d, f.Rank)
		e.Rank = &rank
	}
	return e
}

// answer reads what an example must get. One that has another answer than the signature with which it stands is its near miss.
func (r ExampleReader) answer(d *rulefile.Decoder, s *Signature, e *Example) {
	f := e.written
	words := strings.Fields(f.Answer.Value)
	switch {
	case len(words) == 1 && words[0] == "none":
	case len(words) == 1 && slices.Contains(Certainties, words[0]):
		e.Answer = Answer{s.ID, words[0]}
	case len(words) == 2 && slices.Contains(Certainties, words[1]):
		e.Answer = Answer{words[0], words[1]}
		r.mustKnow(d, f.Answer, words[0])
	default:
		d.Problem(e.Place.Line, e.Place.Column, "an example needs answer: confirmed, likely or unexplained where %s is the root cause; "+
			"for a near miss none, or the root cause and how sure: ID confirmed, ID likely", s.ID)
	}
	if e.Answer.ID != s.ID && !slices.Contains(e.Not, s.ID) {
		e.Not = append(e.Not, s.ID)
	}
	lines := strings.Count(strings.TrimSuffix(e.Log, "\n"), "\n") + 1
	switch {
	case e.Answer.ID == "" && f.Line.Value != "":
		d.Problem(f.Line.Line, f.Line.Column, "line: says where the answer is found, and the answer is none")
	case e.Answer.ID == "":
	case f.Line.Value == "":
		e.Line = lines
	default:
		e.Line = number(d, f.Line)
		if e.Line < 1 || e.Line > lines {
			d.Problem(f.Line.Line, f.Line.Column, "the log has %d lines", lines)
		}
	}
}

// mustKnow notes an id that no signature has.
func (r ExampleReader) mustKnow(d *rulefile.Decoder, at rulefile.Text, id string) {
	if _, found := slices.BinarySearch(r.IDs, id); found {
		return
	}
	hint := ""
	if near := spelling.Nearest(id, r.IDs); near != "" {
		hint = fmt.Sprintf(", did you mean %s?", near)
	}
	d.Problem(at.Line, at.Column, "there is no signature %s%s", id, hint)
}

func number(d *rulefile.Decoder, t rulefile.Text) int {
	n, err := strconv.Atoi(t.Value)
	if err != nil {
		d.Problem(t.Line, t.Column, "%q is not a whole number", t.Value)
	}
	return n
}

// unfinishedMark is what the template of a new signature has where a person must write.
const unfinishedMark = "TODO"

// Unfinished are the places in the file of a signature that still say TODO. A log may say it too, but not begin with it.
func (s *Signature) Unfinished() (rulefile.Problems, error) {
	content, err := fs.ReadFile(s.files, s.Place.File)
	if err != nil || !bytes.Contains(content, []byte(unfinishedMark)) {
		return nil, err
	}
	d := &rulefile.Decoder{File: s.Place.File}
	if root := rulefile.Parse(d, content); root != nil {
		unfinished(d, root, strings.Split(string(content), "\n"))
	}
	return d.Problems, nil
}

// unfinished notes the texts of a node, in a file of these lines, that still have to be written.
func unfinished(d *rulefile.Decoder, n *rulefile.Node, lines []string) {
	switch {
	case n.IsMapping():
		d.Pairs(n, func(key rulefile.Text, value *rulefile.Node) {
			if key.Value != "log" || strings.HasPrefix(firstText(value), unfinishedMark) {
				unfinished(d, value, lines)
			}
		})
	case n.IsText():
		if !slices.Contains(strings.Fields(firstText(n)), unfinishedMark) {
			return
		}
		line := n.Line
		for line < len(lines) && !strings.Contains(lines[line-1], unfinishedMark) {
			line++
		}
		column := strings.Index(lines[line-1], unfinishedMark) + 1
		d.Problem(line, column, "this still says %s: write it, or take it out", unfinishedMark)
	default:
		for _, item := range n.Items() {
			unfinished(d, item, lines)
		}
	}
}

// firstText is the first text in a node, or "".
func firstText(n *rulefile.Node) string {
	for _, text := range n.Texts() {
		return text.Value
	}
	return ""
}
