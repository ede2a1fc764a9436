package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/gpu-triage/triage/rules/history"
	"github.com/spf13/cobra"
)

// historyOptions are what one call of `triage history NAME` asks for.
type historyOptions struct {
	output outputFlags
	batch  bool
	names  []string
}

func newHistory(std streams) *cobra.Command {
	o := &historyOptions{}
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "Tell which releases of a Python package have a module, name, method or parameter",
		Long: `Tells which releases of a package have a name: since when, until when, and where it went.

With --batch, standard input holds one question a line, {"name": "transformers.AdamW", "version": "5.0.0"}, and the answers come in
the same order: {"present": true}, false, or null where it is not known.

Exit status: 0 something is known of the name, 1 nothing is, 2 the call or its input was wrong.`,
		Example: `  triage history transformers.AdamW
  triage history 'transformers.Trainer.__init__(tokenizer=)'
  triage history --batch <questions.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if o.batch == (len(args) > 0) || len(args) > 1 {
				return errors.New("one name is wanted, or --batch and names on standard input; triage history --help tells more")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			o.names = args
			return runHistory(std, o)
		},
	}
	o.output.add(cmd, factFormats...)
	cmd.Flags().BoolVar(&o.batch, "batch", false, "answer questions from standard input, one a line, as JSON Lines")
	return cmd
}

func runHistory(std streams, o *historyOptions) error {
	if err := o.output.check(factFormats...); err != nil {
		return err
	}
	if o.batch {
		return history.Batch(std.in, std.out)
	}
	name, err := history.ParseName(o.names[0])
	if err != nil {
		return err
	}
	p, err := history.Open(name.Dotted)
	if err != nil {
		return err
	}
	printHistory(std.out, p, name)
	return nil
}

func printHistory(out io.Writer, p *history.Package, name history.Name) {
	for _, r := range p.Ranges(name) {
		fmt.Fprintf(out, "%-8s %s (%s) to %s (%s)\n", r.Presence, r.First.Version, r.First.Date.Format("2006-01-02"), r.Last.Version, r.Last.Date.Format("2006-01-02"))
	}
}
