package example

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
)

// MaxExample bounds a log with a verdict in it, in bytes.
const MaxExample = 16 << 20

const verdictFile = "verdict"

// readExamples reads every *.log and every folder with a verdict, sorted by name. The error is rulefile.Problems when marks are wrong.
func readExamples(files fs.FS) ([]Example, error) {
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
	e := Example{Place: rulefile.Problem{File: name}, Facts: make(map[string]string), Rank: logline.NoRank}
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
	e.Place.File, e.folder, e.logs = name, true, nil
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
	wrong := func(line int, message string) {
		problems = append(problems, rulefile.Problem{File: e.Place.File, Line: line, Column: 1, Message: message})
	}
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
			wrong(i+1, err.Error())
		}
	}
	if e.Source == "" {
		wrong(1, "the line `#=source= where this log is from` is missing")
	}
	if e.Provenance == "" {
		wrong(1, "the line `#=provenance= real` is missing; say reproduced for a failure that was made, "+
			"and for one that a person wrote `#=provenance= written: why it does not stand under examples: of its signature`")
	}
	return log, problems
}

func (e *Example) mark(key, value string, next int) error {
	switch key {
	case "source":
		e.Source = value
	case "provenance":
		kind, reason, _ := strings.Cut(value, ":")
		if !slices.Contains(signature.Provenances, kind) || kind == "written" && strings.TrimSpace(reason) == "" {
			return fmt.Errorf("the provenance is real, reproduced, or written with a reason after a colon, not %q", value)
		}
		e.Provenance = kind
	case "fact":
		name, text, ok := strings.Cut(value, "=")
		if !ok {
			return fmt.Errorf("a fact is written name=value, not %q", value)
		}
		e.Facts[name] = text
	case "match":
		id, certainty, _ := strings.Cut(value, " ")
		certainty = strings.TrimSpace(certainty)
		if !slices.Contains(signature.Certainties, certainty) {
			return fmt.Errorf("the certainty is confirmed, likely or unexplained, not %q", certainty)
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
		return fmt.Errorf("unknown mark #=%s=; marks are source, provenance, fact, match, not and rank", key)
	}
	return nil
}
