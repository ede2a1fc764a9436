package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/compare"
	"github.com/gpu-triage/triage/matcher/render"
)

func newDiff(std streams) *cobra.Command {
	var output outputFlags
	var known ruleFlags
	cmd := &cobra.Command{
		Use:   "diff GOOD BAD",
		Short: "Tell what differs between a job that worked and one that failed",
		Long: `Compares what two jobs say of their versions, machine, environment and arguments, and how far and how fast their steps went. What the
failure hangs on comes first. Each of the two is a log, a folder of logs, or a file of facts, as triage facts --format json prints them.

Exit status: 0 something differs, 1 nothing does that both tell, 2 the call or its input was wrong.`,
		Example: `  triage diff yesterday.log today.log
  triage diff node-1.json node-2.json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(factFormats...); err != nil {
				return err
			}
			return diff(cmd.Context(), std, &known, &output, args[0], args[1])
		},
	}
	output.add(cmd, factFormats...)
	known.add(cmd)
	return cmd
}

func diff(ctx context.Context, std streams, known *ruleFlags, output *outputFlags, good, bad string) error {
	base, err := known.load()
	if err != nil {
		return err
	}
	engine := matcher.New(base)
	a, err := sideOf(ctx, std, engine, good)
	if err != nil {
		return err
	}
	b, err := sideOf(ctx, std, engine, bad)
	if err != nil {
		return err
	}
	difference, err := compare.Of(base, a, b)
	if err != nil {
		return err
	}
	if output.format == "json" {
		err = writeJSON(std.out, difference)
	} else {
		_, err = fmt.Fprint(std.out, render.Difference(difference, std.style(output.color)))
	}
	if err == nil && len(difference.Differs) == 0 {
		return exitStatus(exitNothing)
	}
	return err
}

// sideOf reads one of the two that are compared. What is no file of facts is a log.
func sideOf(ctx context.Context, std streams, engine *matcher.Engine, path string) (compare.Side, error) {
	side := compare.Side{Name: sourceName(path)}
	job := engine.Begin()
	if path != "-" {
		if facts, err := readFacts(path, engine.Base().Vocabulary); err == nil && len(facts) > 0 {
			side.Answer = job.Report(facts...)
			return side, nil
		}
	}
	err := eachLog(ctx, std, []string{path}, func(name string, log io.Reader) error {
		return job.Read(ctx, name, side.Arguments.Reading(log))
	})
	if err != nil {
		return side, err
	}
	for _, p := range job.Result().Paces {
		if step, seconds, ok := p.Reached(); ok {
			side.Steps = append(side.Steps, compare.Steps{Reached: step, Seconds: seconds})
		}
	}
	side.Answer = job.Report()
	return side, nil
}
