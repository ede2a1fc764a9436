package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/spf13/cobra"
)

// factsOptions are what one call of `triage facts` asks for.
type factsOptions struct {
	output  outputFlags
	rules   ruleFlags
	python  string
	timeout time.Duration
}

func newFacts(std streams) *cobra.Command {
	o := &factsOptions{}
	cmd := &cobra.Command{
		Use:   "facts",
		Short: "Tell what this machine says: GPUs, driver, CUDA, Python packages, environment",
		Long: `Tells what this machine says of its GPUs, driver, libraries, Python packages and environment, without running
Python. What cannot be told is named with the reason. The JSON form can be sent along with a log: --facts reads it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runFacts(cmd.Context(), std, o) },
	}
	o.output.add(cmd, factFormats...)
	o.rules.add(cmd)
	cmd.Flags().StringVar(&o.python, "python", "", "the job's interpreter, virtual or conda environment, as `PATH` (default: the one in use)")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 10*time.Second, "how long to wait for each tool")
	return cmd
}

var factFormats = []string{"text", "json"}

func runFacts(ctx context.Context, std streams, o *factsOptions) error {
	if err := o.output.check(factFormats...); err != nil {
		return err
	}
	base, err := o.rules.load()
	if err != nil {
		return err
	}
	machine := live.Read(ctx, live.Options{Base: base, Python: o.python, Timeout: o.timeout})
	if o.output.format == "json" {
		return writeJSON(std.out, machine.Document(base.Vocabulary))
	}
	return printMachine(std.out, machine, base.Vocabulary)
}

func printMachine(out io.Writer, machine *live.Machine, vocabulary *fact.Vocabulary) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, gpu := range machine.GPUs {
		printGPU(out, gpu)
		fmt.Fprintln(out)
	}
	printEvents(out, machine)
	fmt.Fprintln(table, "FACT\tVALUE\tFROM")
	for _, fact := range machine.Facts(vocabulary) {
		fmt.Fprintf(table, "%s\t%s\t%s\n", fact.Name, render.Value(fact.Value), fact.Where)
	}
	if len(machine.Failures) > 0 {
		fmt.Fprintln(table, "\nNOT TOLD\tWHY")
	}
	for _, failure := range machine.Failures {
		fmt.Fprintf(table, "%s\t%s\n", failure.Source, strings.ReplaceAll(failure.Error, "\n", " "))
	}
	return table.Flush()
}
