package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gpu-triage/triage/rules/history"
	"github.com/spf13/cobra"
)

// historyOptions are what one call of `triage history NAME` asks for.
type historyOptions struct {
	output outputFlags
	batch  bool
}

func newHistory(std streams) *cobra.Command {
	o := &historyOptions{}
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "Tell which releases of a Python package have a module, name, method or parameter",
		Long: `Tells which releases of a package have a name, from when to when, and where it went. NAME is a module, a name in one, a
method, or a parameter, as in transformers.Trainer.__init__(tokenizer=). A package alone lists what is known of it.

With --batch, standard input holds one question a line, {"name": "transformers.AdamW", "version": "5.0.0"}, and the answers come
in the same order: {"present": true}, false, or null where it is not known.

Exit status: 0 some release has the name, 1 none has or nothing is known of it, 2 the call or its input was wrong.`,
		Example: `  triage history transformers.AdamW
  triage history 'transformers.Trainer.__init__(tokenizer=)'
  triage history --batch <questions.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if o.batch && len(args) > 0 {
				return errors.New("--batch takes its names from standard input alone")
			}
			if !o.batch && len(args) != 1 {
				return errors.New("one name is wanted, such as transformers.AdamW; triage history --help tells more")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return runHistory(std, o, args) },
	}
	o.output.add(cmd, factFormats...)
	cmd.Flags().BoolVar(&o.batch, "batch", false, "answer questions from standard input, one a line, as JSON Lines")
	return cmd
}

func runHistory(std streams, o *historyOptions, args []string) error {
	if err := o.output.check(factFormats...); err != nil {
		return err
	}
	if o.batch {
		return history.Batch(std.in, std.out)
	}
	answer, err := history.Ask(args[0])
	if errors.Is(err, history.ErrNotCovered) {
		asked, _, _ := strings.Cut(args[0], ".")
		return fmt.Errorf("%w%s", err, didYouMean(asked, history.Covered()))
	}
	if err != nil {
		return err
	}
	if o.output.format == "json" {
		err = writeJSON(std.out, answer)
	} else {
		_, err = fmt.Fprint(std.out, answer.Text())
	}
	if err == nil && !answer.Has() {
		return exitStatus(exitNothing)
	}
	return err
}
