package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/supervise"
)

// runOptions are what one call of `triage run` asks for.
type runOptions struct {
	askFlags
	report string
	python string
	stall  stallFlag
}

func newRun(std streams) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARG]...",
		Short: "Run a command, and say why when it fails",
		Long: `Runs a command with its input, output, signals and exit status unchanged. When it fails, its output, this machine's
facts and the kernel's messages are diagnosed, and the answer is written to standard error. What the kernel says of other
people's processes is only a note.

When no step and nothing else that is new comes any more, the same is said while the command still runs: the last line of
each rank, the stacks of its processes (by py-spy where it is installed, else what /proc tells), and what the GPUs do.
--stall sets after how long. Ctrl-C on a command that hangs gives that answer too.

Processes that outlive the command can write for two more seconds than it did. When it failed, those that still run
are named.

Exit status: that of the command; 126 or 127 when it cannot be run.`,
		Example: `  triage run -- python train.py
  triage run --report why.md --format markdown -- torchrun --nproc-per-node 8 train.py
  triage run --stall 10m -- torchrun --nproc-per-node 8 train.py`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("requires at least 1 argument, the command to run: triage run -- python train.py")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runCommand(cmd.Context(), std, o, args) },
	}
	cmd.Flags().SetInterspersed(false)
	o.askFlags.add(cmd)
	cmd.Flags().StringVar(&o.report, "report", "", "write the answer to `FILE` as well, as HTML, Markdown or text when its name ends in .html, .md or .txt, else as JSON")
	cmd.Flags().StringVar(&o.stall.text, "stall", "auto", stallUsage)
	cmd.Flags().StringVar(&o.python, "python", "", "the job's interpreter, virtual or conda environment, as `PATH` (default: the command's)")
	return cmd
}

func runCommand(ctx context.Context, std streams, o *runOptions, args []string) error {
	base, known, err := o.load()
	if err != nil {
		return err
	}
	limit, off, err := o.stall.limit()
	if err != nil {
		return err
	}
	// What ends the command is not to end its diagnosis.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	job := live.WatchJob()
	engine := matcher.New(base)
	f := failed{
		options: live.Options{Base: base, Command: args, Job: job, Python: o.python},
		reading: engine.Begin(), known: known,
	}
	f.before = o.readMachine(ctx, f.options)
	watch := &sentinel{
		engine: engine, known: known, watch: engine.Watch(), limit: limit, off: off,
		where: func(ctx context.Context) []report.Evidence { return job.Where(ctx, f.options) },
		say: func(still pace.Standstill, answer *report.Report) {
			announce(std.err, still)
			o.whole().tell(std, answer)
		},
	}
	f.ended, err = supervise.Run(supervise.Job{
		Args: args, Stdout: os.Stdout, Stderr: os.Stderr, Copy: watch.copy,
		Read: func(name string, output io.Reader) error { return f.reading.Read(ctx, name, output) },
		Started: func(pid int) {
			job.Started(pid)
			watch.begin(ctx)
		},
	})
	job.Stop()
	f.stood = watch.end(f.ended.Finished, f.ended.Interrupted || f.ended.Code > 128)
	if err != nil {
		fmt.Fprintln(std.err, "triage: "+err.Error())
		return exitStatus(f.ended.Code)
	}
	if f.ended.Code == 0 {
		return nil
	}
	stopAtInterrupt(stop)
	answer := f.answer(ctx)
	if f.stood.Wait > 0 {
		showStandstill(&answer, f.stood, watch.seen)
		o = o.whole()
	}
	o.tell(std, &answer)
	f.ended.RaiseSignal()
	return exitStatus(f.ended.Code)
}

// whole are the options with which all of an answer is told, since each process counts.
func (o *runOptions) whole() *runOptions {
	whole := *o
	whole.output.verbose = true
	return &whole
}

// readMachine reads the machine's facts beside the command; nil when nobody wants them.
func (o *runOptions) readMachine(ctx context.Context, options live.Options) <-chan *live.Machine {
	read := make(chan *live.Machine, 1)
	if o.live == "off" {
		read <- nil
		return read
	}
	go func() { read <- live.Read(ctx, options) }()
	return read
}

// stopAtInterrupt lets a second Ctrl-C end the diagnosis.
func stopAtInterrupt(stop context.CancelFunc) {
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupt
		stop()
	}()
}

// tell is answer for one who cannot do anything about a mistake but say it.
func (o *runOptions) tell(std streams, report *report.Report) {
	if err := o.answer(std, report); err != nil {
		fmt.Fprintln(std.err, "triage: "+err.Error())
	}
}

// answer writes the report to standard error and to the file that was asked for.
func (o *runOptions) answer(std streams, report *report.Report) error {
	std.out = std.err
	if len(report.Diagnoses) == 0 && o.output.format == "text" {
		fmt.Fprintln(std.err, "triage: the command failed, but nothing known was found in what it printed")
		for _, note := range report.Notes {
			fmt.Fprintln(std.err, "triage: "+note)
		}
	} else {
		fmt.Fprintln(std.err)
		if err := o.output.show(std, report); err != nil {
			return err
		}
	}
	if o.report == "" {
		return nil
	}
	form := outputFlags{format: "json", color: "never", verbose: true}
	switch filepath.Ext(o.report) {
	case ".txt":
		form.format = "text"
	case ".md":
		form.format = "markdown"
	case ".html", ".htm":
		form.format = "html"
	}
	file, err := os.OpenFile(o.report, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it quotes a log, which may be private
	if err != nil {
		return err
	}
	std.out = file
	return errors.Join(form.show(std, report), file.Close())
}
