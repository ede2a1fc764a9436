package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher/render"
)

// The exit statuses, which mean what grep's mean.
const (
	exitDiagnosed = 0 // a cause was named, or what was asked for is done
	exitNothing   = 1 // no cause was named, or a test of rules failed
	exitWrong     = 2 // the call or its input was wrong
)

// exitStatus is an error that says only how to end: what there was to say is said.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// run carries out one call of the program and returns its exit status.
func run(ctx context.Context, args []string, std streams) int {
	root := newRoot(std)
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	err := root.ExecuteContext(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return exitDiagnosed
	case errors.As(err, &status):
		return int(status)
	}
	for line := range strings.SplitSeq(plainly(err), "\n") {
		fmt.Fprintln(std.err, "triage: "+render.Line(line))
	}
	return exitWrong
}

// plainly is the error without the name of the system call that told it, which helps nobody.
func plainly(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return strings.Replace(err.Error(), path.Op+" "+path.Path+":", path.Path+":", 1)
	}
	return err.Error()
}

// newHelp is the help of a command, as --help, that says when there is none.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Help about a command",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || found == c.Root() && len(args) > 0 || len(rest) > 0 {
				return fmt.Errorf("there is no help on %s; triage --help lists the commands", strings.Join(args, " "))
			}
			return found.Help()
		},
	}
}

func newRoot(std streams) *cobra.Command {
	root := newDiagnose(std)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.SetHelpCommand(newHelp())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s --help lists what there is", err, cmd.CommandPath())
	})
	root.AddCommand(newRun(std), newBackends(std), newDiff(std), newDocs(std), newExplain(std), newFacts(std), newHistory(std), newMan(), newMCP(std), newMerge(std), newRules(std), newSchema(std), newServe(), newVersion(std))
	return root
}
