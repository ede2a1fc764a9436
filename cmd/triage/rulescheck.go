package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/wrapper"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/scan/corpus"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/signature"
	"github.com/spf13/cobra"
)

func newRulesCheck(std streams) *cobra.Command {
	var known ruleFlags
	var strict bool
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Load rules and tell every mistake, with file, line and column",
		Long: `Loads the built-in rules and those in DIR and tells every mistake with its file, line and column. Then an ordinary log is
read with them, and what makes that slow is told as a warning, with what it costs, and so is what is looked for only in some lines.
A text that still says TODO is a mistake too.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			known.dirs = append(known.dirs, args...)
			base, err := known.read(loadStrictly)
			if err != nil {
				return err
			}
			_, libraries, err := known.loadLibraries()
			if err != nil {
				return err
			}
			layers, err := known.layers()
			if err != nil {
				return err
			}
			warnings, err := warn(cmd.Context(), std, base, layers)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(std.out, "%d signatures, %d facts, backend rules of %s: no mistakes\n",
				len(base.Entries), len(base.Vocabulary.Names()), strings.Join(libraryNames(libraries), ", "))
			if err != nil {
				return err
			}
			if strict && warnings > 0 {
				return exitStatus(exitNothing)
			}
			return nil
		},
	}
	known.add(cmd)
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 1 when there is a warning")
	return cmd
}

// loadStrictly reads what a start of the program leaves for later too: all signatures and their examples. What is still to be written
// is a mistake.
func loadStrictly(files ...fs.FS) (*rules.Base, error) {
	if err := wrapper.CheckShipped(); err != nil {
		return nil, err
	}
	base, err := rules.Load(files...)
	if err != nil {
		return nil, err
	}
	problems, err := base.Unfinished(base.Signatures())
	if err != nil {
		return nil, err
	}
	var wrong rulefile.Problems
	if _, err := base.Examples(base.Signatures()); err != nil && !errors.As(err, &wrong) {
		return nil, err
	}
	problems = append(problems, wrong...)
	if len(problems) > 0 {
		return nil, problems
	}
	return base, nil
}

// ordinary is how many bytes of a log rules are measured with: so many that its first lines, all of which are read, weigh little.
const ordinary = 16_000_000

// warn tells what the rules make slow, and counts it.
func warn(ctx context.Context, std streams, base *rules.Base, layers []layer) (int, error) {
	var log bytes.Buffer
	if err := corpus.Write(&log, ordinary, corpus.Ordinary, 1); err != nil {
		return 0, err
	}
	engine := matcher.New(base)
	remarks := engine.Remarks(log.Bytes())
	for _, r := range remarks {
		r.File = located(layers, r.File)
		cost := ""
		if r.Signature != "" {
			times, err := slower(ctx, base, r.Signature, log.Bytes())
			if err != nil {
				return 0, err
			}
			cost = fmt.Sprintf(" (with this signature reading that log takes %.1f times as long)", times)
		}
		fmt.Fprintf(std.err, "warning: %v%s\n", r.Problem, cost)
	}
	return len(remarks), nil
}

// slower is how many times as long a log is read because of one signature.
func slower(ctx context.Context, base *rules.Base, id string, log []byte) (float64, error) {
	without := *base
	without.Entries = slices.DeleteFunc(slices.Clone(base.Entries), func(e *signature.Entry) bool { return e.ID == id })
	var best [2]time.Duration
	engines := [2]*matcher.Engine{matcher.New(&without), matcher.New(base)}
	for range 3 {
		for i, e := range engines { // by turns, so that what else the machine does slows both
			start := time.Now()
			if err := e.Begin().Read(ctx, "ordinary.log", bytes.NewReader(log)); err != nil {
				return 0, err
			}
			if took := time.Since(start); best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return float64(best[1]) / float64(best[0]), nil
}
