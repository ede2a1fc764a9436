// Package example tries a knowledge base on logs whose answer is known. The logs stand with their signatures, or in a folder of files that
// say their verdict themselves. It tells where the answer differs (Try), what the new answer is (Renew), which signatures lack an example or
// a near miss (Uncovered), and how much is recognized (Measure).
package example

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"

	"github.com/gpu-triage/triage/rules"
)

// Example is a log with its verdict. Short ones stand in the files of signatures, see signature.Example. Long ones, and those of real runs,
// are files of their own, with the verdict on lines that begin with "#=" and are no part of the log:
//
//	#=source= where the log is from
//	#=provenance= real, reproduced, or written: why it is a file all the same
//	#=fact= name=value
//	#=match= id certainty   (before the line that is the first evidence of the root cause)
//	#=not= id               (a near miss: this signature must not be diagnosed)
//	#=rank= number          (the rank that failed first)
//
// Without a #=match= nothing may be diagnosed. A folder with a file named "verdict" is one example too: that file has the marks, and
// a #=match= there names no line.
type Example struct {
	Place      rulefile.Problem // of the verdict: its file, or folder; a line and a column only in a file with several. Message is empty
	Source     string
	Provenance string // one of signature.Provenances
	Facts      map[string]string
	Want       []Want
	Not        []string
	Rank       int // logline.NoRank when it does not matter

	logs    []exampleLog
	folder  bool
	written *signature.Example // when it stands with a signature
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

// Load reads those that stand with signatures of a base, and those in a folder of logs, which may be nil. The error is
// rulefile.Problems when one is written wrongly.
func Load(base *rules.Base, signatures []*signature.Signature, logs fs.FS) ([]Example, error) {
	var problems rulefile.Problems
	written, err := base.Examples(signatures)
	if err != nil && !errors.As(err, &problems) {
		return nil, err
	}
	var examples []Example
	var wrong rulefile.Problems
	if logs != nil {
		examples, err = readExamples(logs)
	}
	if err != nil && !errors.As(err, &wrong) {
		return nil, err
	}
	problems = append(problems, wrong...)
	if len(problems) > 0 {
		return nil, problems
	}
	for _, w := range written {
		examples = append(examples, writtenExample(w))
	}
	return examples, nil
}

// writtenExample is an example that stands with a signature.
func writtenExample(w signature.Example) Example {
	e := Example{
		Place: w.Place, Source: w.Source, Provenance: w.Provenance, Facts: w.Facts, Not: w.Not, Rank: logline.NoRank,
		logs: []exampleLog{{"example.log", []byte(w.Log)}}, written: &w,
	}
	if w.Answer.ID != "" {
		e.Want = []Want{{w.Answer.ID, report.Certainty(w.Answer.Certainty), w.Line}}
	}
	if w.Rank != nil {
		e.Rank = *w.Rank
	}
	return e
}

// Logs are the logs that are read as one, without their verdict.
func (e Example) Logs() [][]byte {
	logs := make([][]byte, len(e.logs))
	for i, log := range e.logs {
		logs[i] = log.content
	}
	return logs
}

// String is where the example is.
func (e Example) String() string {
	if e.Place.Line == 0 {
		return e.Place.File
	}
	return fmt.Sprintf("%s:%d:%d", e.Place.File, e.Place.Line, e.Place.Column)
}
