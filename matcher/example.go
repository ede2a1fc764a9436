package matcher

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
)

// Example is a real log with its verdict in it, on lines that begin with "#=" and are no part of the log:
//
//	#=source= where the log is from
//	#=fact= name=value
//	#=match= id certainty   (before the line that is the first evidence of the root cause)
//	#=not= id               (a near miss: this signature must not be diagnosed)
//	#=rank= number          (the rank that failed first)
//
// Without a #=match= nothing may be diagnosed. A folder with a file named "verdict" is one example too: that file has the marks, and
// a #=match= there names no line.
type Example struct {
	Name   string // its file or folder
	Source string
	Facts  map[string]string
	Want   []Want
	Not    []string
	Rank   int // NoRank when it does not matter

	logs []exampleLog
}

type exampleLog struct {
	name    string
	content []byte
}

// Want is a diagnosis that an example must get as its root cause.
type Want struct {
	ID        string
	Certainty report.Certainty
	Line      int // of the first evidence, in the log without the markers; 0 when the example is a folder
}

// MaxExample bounds a log with a verdict in it, in bytes.
const MaxExample = 16 << 20

const verdictFile = "verdict"

// ReadExamples reads every *.log and every folder with a verdict, sorted by name. The error is rules.Problems when marks are wrong.
func ReadExamples(files fs.FS) ([]Example, error) {
	var examples []Example
	var problems rulefile.Problems
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var example Example
		var wrong rulefile.Problems
		if _, missing := fs.Stat(files, path.Join(name, verdictFile)); entry.IsDir() && missing == nil {
			example, wrong, err = folderExample(files, name)
			err = cmp.Or(err, fs.SkipDir)
		} else if entry.IsDir() || path.Ext(name) != ".log" {
			return nil
		} else {
			example, wrong, err = logExample(files, name)
		}
		examples, problems = append(examples, example), append(problems, wrong...)
		return err
	})
	if err == nil && len(problems) > 0 {
		err = problems
	}
	return examples, err
}

func readExample(files fs.FS, name string) ([]byte, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, MaxExample+1))
	if err == nil && len(content) > MaxExample {
		err = fmt.Errorf("%s: an example may have %d MiB", name, MaxExample>>20)
	}
	return content, err
}

// logExample reads a log with its verdict in it.
func logExample(files fs.FS, name string) (Example, rulefile.Problems, error) {
	content, err := readExample(files, name)
	e := Example{Name: name, Facts: make(map[string]string), Rank: logline.NoRank}
	log, problems := e.marks(content)
	e.logs = []exampleLog{{name, log}}
	return e, problems, err
}

// folderExample reads a folder of logs with a verdict beside them.
func folderExample(files fs.FS, name string) (Example, rulefile.Problems, error) {
	e, problems, err := logExample(files, path.Join(name, verdictFile))
	if err != nil {
		return e, nil, err
	}
	e.Name, e.logs = name, nil
	for i := range e.Want {
		e.Want[i].Line = 0
	}
	err = fs.WalkDir(files, name, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Base(file) == verdictFile {
			return err
		}
		content, err := readExample(files, file)
		e.logs = append(e.logs, exampleLog{file, content})
		return err
	})
	return e, problems, err
}

// marks takes the marks out of a log.
func (e *Example) marks(content []byte) (log []byte, problems rulefile.Problems) {
	kept := 0
	for i, line := range bytes.SplitAfter(content, []byte{'\n'}) {
		rest, marked := bytes.CutPrefix(line, []byte("#="))
		if !marked {
			log = append(log, line...)
			kept++
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(string(rest)), "=")
		if err := e.mark(key, strings.TrimSpace(value), kept+1); err != nil {
			problems = append(problems, rulefile.Problem{File: e.Name, Line: i + 1, Column: 1, Message: err.Error()})
		}
	}
	if e.Source == "" {
		problems = append(problems, rulefile.Problem{File: e.Name, Line: 1, Column: 1, Message: "the line `#=source= where this log is from` is missing"})
	}
	return log, problems
}

func (e *Example) mark(key, value string, next int) error {
	switch key {
	case "source":
		e.Source = value
	case "fact":
		name, text, ok := strings.Cut(value, "=")
		if !ok {
			return fmt.Errorf("a fact is written name=value, not %q", value)
		}
		e.Facts[name] = text
	case "match":
		id, certainty, _ := strings.Cut(value, " ")
		if certainty = strings.TrimSpace(certainty); certainty != string(report.Confirmed) && certainty != string(report.Likely) {
			return fmt.Errorf("the certainty is confirmed or likely, not %q", certainty)
		}
		e.Want = append(e.Want, Want{ID: id, Certainty: report.Certainty(certainty), Line: next})
	case "not":
		e.Not = append(e.Not, value)
	case "rank":
		rank, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("the rank is a number, not %q", value)
		}
		e.Rank = rank
	default:
		return fmt.Errorf("unknown mark #=%s=; marks are source, fact, match, not and rank", key)
	}
	return nil
}

// Try diagnoses an example and tells in what the answer differs from its verdict.
func (e *Engine) Try(ctx context.Context, example Example) (mistakes []string) {
	for _, id := range append(slices.Clone(example.Not), example.ids()...) {
		if e.base.Signature(id) == nil {
			mistakes = append(mistakes, "there is no signature "+id)
		}
	}
	report, err := e.diagnose(ctx, example)
	if err != nil {
		return append(mistakes, err.Error())
	}
	return append(mistakes, example.compare(report)...)
}

func (e *Engine) diagnose(ctx context.Context, example Example) (report.Report, error) {
	var known []facts.Fact
	for name, text := range example.Facts {
		value, err := e.base.Vocabulary.Parse(name, text)
		if err != nil {
			return report.Report{}, err
		}
		known = append(known, facts.Fact{Name: name, Value: value, Source: facts.FromUser})
	}
	reading := e.Begin()
	for _, log := range example.logs {
		if err := reading.Read(ctx, log.name, bytes.NewReader(log.content)); err != nil {
			return report.Report{}, err
		}
	}
	return reading.Report(known...), nil
}

func (e Example) ids() []string {
	ids := make([]string, len(e.Want))
	for i, w := range e.Want {
		ids[i] = w.ID
	}
	return ids
}

func (e Example) compare(report report.Report) (mistakes []string) {
	found := report.Diagnoses
	for _, d := range found {
		if slices.Contains(e.Not, d.ID) {
			mistakes = append(mistakes, fmt.Sprintf("%s is diagnosed (%s) and must not be", d.ID, d.Certainty))
		}
	}
	if len(e.Want) == 0 {
		for _, d := range found {
			mistakes = append(mistakes, fmt.Sprintf("nothing may be diagnosed, but %s is, from line %d", d.ID, d.Evidence[0].Line))
		}
		return mistakes
	}
	if len(found) == 0 {
		return append(mistakes, fmt.Sprintf("%s is not diagnosed, nothing is", e.Want[0].ID))
	}
	for i, want := range e.Want {
		if i >= len(found) {
			return append(mistakes, fmt.Sprintf("%s is not diagnosed", want.ID))
		}
		got := found[i]
		if got.ID != want.ID || got.Certainty != want.Certainty {
			mistakes = append(mistakes, fmt.Sprintf("%s %s is diagnosed instead of %s %s", got.ID, got.Certainty, want.ID, want.Certainty))
		} else if want.Line > 0 && got.Evidence[0].Line != want.Line {
			mistakes = append(mistakes, fmt.Sprintf("%s is found in line %d of the log, not in the marked line %d", got.ID, got.Evidence[0].Line, want.Line))
		}
	}
	if rank := found[0].Rank; e.Rank != logline.NoRank && (rank == nil || *rank != e.Rank) {
		mistakes = append(mistakes, fmt.Sprintf("the rank that failed first is %v, not %d", rank, e.Rank))
	}
	return mistakes
}

// Uncovered tells which signatures lack an example in which they are the root cause, or a near miss. What is never the answer, noise
// and progress, needs only the latter, a generic one only the former, and what reads the pace neither.
func Uncovered(signatures []*signature.Signature, examples []Example) rulefile.Problems {
	shown, missed := make(map[string]bool), make(map[string]bool)
	for _, e := range examples {
		for _, id := range e.ids() {
			shown[id] = true
		}
		for _, id := range e.Not {
			missed[id] = true
		}
	}
	var problems rulefile.Problems
	for _, s := range signatures {
		if s.Role == signature.Pace {
			continue // reads lines on which others stand
		}
		at := s.Place
		if !shown[s.ID] && s.Role != signature.Noise && s.Role != signature.Progress {
			at.Message = "no log has a #=match= " + s.ID
			problems = append(problems, at)
		}
		if !missed[s.ID] && s.Role != signature.Generic {
			at.Message = "no log has a #=not= " + s.ID + ", a near miss"
			problems = append(problems, at)
		}
	}
	return problems
}
