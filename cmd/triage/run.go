package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/rules"
)

// runOptions are what one call of `triage run` asks for.
type runOptions struct {
	output  outputFlags
	rules   ruleFlags
	facts   factFlags
	live    string
	report  string
	command []string
}

func newRun(std streams) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run [flags] -- CMD [ARG]...",
		Short: "Run a command as it is, and diagnose it when it fails",
		Long: `Runs CMD with its output, terminal, signals and exit status unchanged. When it fails, the diagnosis of what it
printed and of this machine is written to standard error.

Exit status: that of CMD.`,
		Example: `  triage run -- torchrun --nproc-per-node 8 train.py
  triage run --report failure.json -- python train.py`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.command = args
			return runRun(context.WithoutCancel(cmd.Context()), std, o)
		},
	}
	cmd.Flags().SetInterspersed(false)
	o.output.add(cmd, reportFormats...)
	o.rules.add(cmd)
	o.facts.add(cmd)
	choose(cmd, &o.live, "live", liveModes, "facts of this machine: ")
	cmd.Flags().StringVar(&o.report, "report", "", "`FILE` to write the report to as JSON, when the command fails")
	return cmd
}

func runRun(ctx context.Context, std streams, o *runOptions) error {
	if err := o.output.check(reportFormats...); err != nil {
		return err
	}
	if err := checkChoice("live", o.live, liveModes); err != nil {
		return err
	}
	base, err := o.rules.load()
	if err != nil {
		return err
	}
	known, err := o.facts.read(base.Vocabulary)
	if err != nil {
		return err
	}
	reading := matcher.New(base).Begin()
	ended, err := watch(ctx, std, o.command, reading)
	switch {
	case err != nil:
		fmt.Fprintf(std.err, "triage: %v\n", err)
		return exitStatus(ended.Code)
	case ended.Code == 0:
		return nil
	}
	if o.live != "off" && !ended.Interrupted {
		now := live.Read(ctx, live.Options{Base: base, Command: o.command}).Within(ended.Started, time.Time{})
		known = append(known, liveFacts(now, base.Vocabulary)...)
	}
	report := reading.Report(known...)
	report.Stats.ElapsedMS = ended.Finished.Sub(ended.Started).Milliseconds()
	if err := o.tell(std, &report); err != nil {
		fmt.Fprintf(std.err, "triage: %v\n", err)
	}
	ended.Mimic()
	return exitStatus(ended.Code)
}

// watch runs the command and reads what it prints.
func watch(ctx context.Context, std streams, command []string, reading *matcher.Reading) (live.Ended, error) {
	stdout, ok1 := std.out.(*os.File)
	stderr, ok2 := std.err.(*os.File)
	if !ok1 || !ok2 {
		return live.Ended{Code: exitWrong}, errors.New("a command can only be run with files to print to")
	}
	printed, watching := io.Pipe()
	read := make(chan struct{})
	go func() {
		defer close(read)
		// Its only errors are those of the pipe, and a reading that ends early ends the watching.
		printed.CloseWithError(reading.Read(ctx, "output", printed))
	}()
	ended, err := live.Run(live.Job{Args: command, Stdout: stdout, Stderr: stderr, Watch: watching})
	watching.Close()
	<-read
	return ended, err
}

// liveFacts are a machine's facts, which weigh less than what a log says.
func liveFacts(machine *live.Machine, vocabulary *rules.Vocabulary) []matcher.Fact {
	var known []matcher.Fact
	for _, f := range machine.Facts(vocabulary) {
		value, err := vocabulary.FromJSON(f.Name, f.Value)
		if err != nil {
			continue // the machine's facts are read with the same vocabulary
		}
		known = append(known, matcher.Fact{Name: f.Name, Value: value, Origin: matcher.FromLive, Where: f.Where})
	}
	return known
}

// tell writes the report to standard error, where it does not mix with what the command printed, and to the file asked for.
func (o *runOptions) tell(std streams, report *matcher.Report) error {
	if o.report != "" {
		encoded, err := render.JSON(report)
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.report, encoded, 0o600); err != nil {
			return err
		}
	}
	if len(report.Diagnoses) == 0 && o.output.format == "text" {
		_, err := fmt.Fprintln(std.err, "triage: the command failed, but nothing known was found in what it printed")
		return err
	}
	fmt.Fprintln(std.err)
	return o.output.show(streams{out: std.err, err: std.err, env: std.env}, report)
}
