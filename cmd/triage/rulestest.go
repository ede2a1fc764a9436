package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// shippedLogs is where the repository keeps the logs of the built-in rules.
const shippedLogs = "testdata/logs"

// maxExample bounds a log with a verdict in it, in bytes.
const maxExample = 64 << 20

func newRulesTest(std streams) *cobra.Command {
	var known ruleFlags
	cmd := &cobra.Command{
		Use:   "test [DIR]",
		Short: "Diagnose the logs that rules come with and compare with the verdicts in them",
		Long: `Diagnoses every *.log below DIR and compares with the verdict in it, on lines that begin with #=. Rules in DIR
are loaded too. Each signature must have a log in which it is the root cause (#=match= ID CERTAINTY before the line)
and one in which it must not be diagnosed (#=not= ID). Without DIR, in the repository of triage, its own rules and
logs are tested.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRulesTest(cmd.Context(), std, &known, args)
		},
	}
	known.add(cmd)
	return cmd
}

func runRulesTest(ctx context.Context, std streams, known *ruleFlags, args []string) error {
	logs := shippedLogs
	if len(args) > 0 {
		logs = args[0]
		known.dirs = append(known.dirs, logs)
	}
	base, err := known.load()
	if err != nil {
		return err
	}
	examples, err := readExamples(logs)
	if err != nil {
		return err
	}
	tested, err := ownSignatures(base, args)
	if err != nil {
		return err
	}
	engine := matcher.New(base)
	failed := 0
	report := func(where, mistake string) {
		failed++
		fmt.Fprintf(std.out, "%s: %s\n", where, mistake)
	}
	for _, example := range examples {
		for _, mistake := range engine.Try(ctx, example) {
			report(example.Name, mistake)
		}
	}
	for _, mistake := range uncovered(tested, examples) {
		report(mistake.File, mistake.Message)
	}
	if failed > 0 {
		fmt.Fprintf(std.out, "%d mistakes in %d logs of %d signatures\n", failed, len(examples), len(tested))
		return exitStatus(exitNothing)
	}
	_, err = fmt.Fprintf(std.out, "%d logs of %d signatures: all as expected\n", len(examples), len(tested))
	return err
}

// readExamples reads every *.log below a folder, sorted by name. The error tells every mistake in their marks.
func readExamples(dir string) ([]matcher.Example, error) {
	var examples []matcher.Example
	var problems rules.Problems
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".log" {
			return err
		}
		content, err := readAtMost(name, maxExample)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		example, err := matcher.ParseExample(name, content)
		if wrong, ok := err.(rules.Problems); ok { //nolint:errorlint // ParseExample returns it as it is
			problems = append(problems, wrong...)
			return nil
		}
		examples = append(examples, example)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(problems) > 0:
		return nil, problems
	case len(examples) == 0:
		return nil, fmt.Errorf("%s: no *.log in this folder", dir)
	}
	return examples, nil
}

// ownSignatures are those that a folder adds, or the built-in ones when none is named.
func ownSignatures(base *rules.Base, dirs []string) ([]*rules.Signature, error) {
	if len(dirs) == 0 {
		return base.Signatures, nil
	}
	var own []*rules.Signature
	for _, s := range base.Signatures {
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(s.Place.File))); err == nil {
				own = append(own, s)
			}
		}
	}
	return own, nil
}

// uncovered tells which signatures lack a log that shows them or a near miss.
func uncovered(signatures []*rules.Signature, examples []matcher.Example) []rules.Problem {
	shown, missed := make(map[string]bool), make(map[string]bool)
	for _, e := range examples {
		for _, want := range e.Want {
			shown[want.ID] = true
		}
		for _, id := range e.Not {
			missed[id] = true
		}
	}
	var problems []rules.Problem
	for _, s := range signatures {
		if !shown[s.ID] && s.Role != rules.Consequence && s.Role != rules.Noise && s.Role != rules.Progress {
			problems = append(problems, rules.Problem{File: s.Place.File, Message: "no log has a #=match= " + s.ID})
		}
		if !missed[s.ID] && s.Role != rules.Generic {
			problems = append(problems, rules.Problem{File: s.Place.File, Message: "no log has a #=not= " + s.ID + ", a near miss"})
		}
	}
	sort.Slice(problems, func(i, j int) bool { return problems[i].File < problems[j].File })
	return problems
}
