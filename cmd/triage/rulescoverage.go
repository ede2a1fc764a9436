package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/example"
)

func newRulesCoverage(std streams) *cobra.Command {
	var known ruleFlags
	cmd := &cobra.Command{
		Use:   "coverage [DIR]",
		Short: "Measure by family how often the examples of DIR get the right root cause",
		Long: `Diagnoses the examples of DIR (without DIR: the repository's own), as triage rules test does, and counts by family, as a
Markdown table.
Recall is the share of a family's logs whose root cause is named; precision the share of its diagnoses that are right;
unmatched the share of its logs about which no more than a generic word is said.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRulesCoverage(cmd.Context(), std, &known, args)
		},
	}
	known.add(cmd)
	return cmd
}

func runRulesCoverage(ctx context.Context, std streams, known *ruleFlags, args []string) error {
	tested, err := readTested(known, args)
	if err != nil {
		return err
	}
	families, err := example.Measure(ctx, matcher.New(tested.base), tested.examples)
	if err != nil {
		return err
	}
	fmt.Fprintln(std.out, "| family | signatures | logs | recall | precision | unmatched |")
	fmt.Fprintln(std.out, "|---|---:|---:|---:|---:|---:|")
	for _, f := range families {
		fmt.Fprintf(std.out, "| %s | %d | %d | %s | %s | %s |\n", f.Family, f.Signatures, f.Logs, share(f.Found, f.Logs), share(f.Right, f.Claimed), share(f.Unmatched, f.Logs))
	}
	all := families[len(families)-1]
	_, err = fmt.Fprintf(std.out, "\nOf %d logs in which nothing failed, %d got no diagnosis.\n", all.Silent, all.Quiet)
	return err
}

// share is a part of a whole in per cent, or a dash when there is no whole.
func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
