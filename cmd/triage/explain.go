package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/catalogue"
	"github.com/gpu-triage/triage/matcher/render"
)

func newExplain(std streams) *cobra.Command {
	var output outputFlags
	var known ruleFlags
	cmd := &cobra.Command{
		Use:   "explain ID",
		Short: "Tell what a known failure is, how it is told from its look-alikes, and what to do",
		Long: `Tells what is known of a failure without a log: what it looks like, why it happens, how it is told from its
look-alikes, what to do, and where that is known from. The id stands in each answer, and triage rules list lists them all. The id of a
backend rule is explained too.`,
		Example: `  triage explain cuda-oom
  triage explain cuda-oom --format json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(factFormats...); err != nil {
				return err
			}
			return explain(cmd.Context(), std, &known, &output, args[0])
		},
		ValidArgsFunction: known.completeID,
	}
	output.add(cmd, factFormats...)
	known.add(cmd)
	return cmd
}

func explain(ctx context.Context, std streams, known *ruleFlags, output *outputFlags, id string) error {
	base, err := known.load()
	if err != nil {
		return err
	}
	if base.Signature(id) == nil {
		_, libraries, err := known.loadLibraries()
		if err != nil {
			return err
		}
		if rule, library, found := catalogue.RuleOf(libraries, base.Vocabulary, id); found {
			if output.format == "json" {
				return writeJSON(std.out, rule)
			}
			_, err := fmt.Fprint(std.out, render.ExplainRule(rule, library, std.style(output.color)))
			return err
		}
	}
	page, err := catalogue.Of(ctx, matcher.New(base), id)
	if err != nil {
		return err
	}
	if output.format == "json" {
		return writeJSON(std.out, page)
	}
	_, err = fmt.Fprint(std.out, render.Explain(page, std.style(output.color)))
	return err
}
