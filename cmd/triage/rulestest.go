package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
	"github.com/spf13/cobra"
)

// shippedLogs is where the repository keeps the logs of the built-in rules.
const shippedLogs = "testdata/logs"

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
			report(filepath.Join(logs, example.Name), mistake)
		}
	}
	for _, mistake := range matcher.Uncovered(tested, examples) {
		report(mistake.File, mistake.Message)
	}
	if failed > 0 {
		fmt.Fprintf(std.out, "%d mistakes in %d logs of %d signatures\n", failed, len(examples), len(tested))
		return exitStatus(exitNothing)
	}
	_, err = fmt.Fprintf(std.out, "%d logs of %d signatures: all as expected\n", len(examples), len(tested))
	return err
}

// readExamples reads the logs of a folder with the verdicts in them. The error names files as the user would find them.
func readExamples(dir string) ([]matcher.Example, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	var problems rulefile.Problems
	examples, err := matcher.ReadExamples(os.DirFS(dir))
	switch {
	case errors.As(err, &problems):
		for i := range problems {
			problems[i].File = filepath.Join(dir, problems[i].File)
		}
		return nil, problems
	case err == nil && len(examples) == 0:
		err = fmt.Errorf("%s: no *.log in this folder", dir)
	}
	return examples, err
}

// ownSignatures are those that a folder adds, or the built-in ones when none is named.
func ownSignatures(base *rules.Base, dirs []string) ([]*signature.Signature, error) {
	if len(dirs) == 0 {
		return base.Signatures(), nil
	}
	var own []*signature.Signature
	for _, s := range base.Signatures() {
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(s.Place.File))); err == nil {
				own = append(own, s)
			}
		}
	}
	return own, nil
}
