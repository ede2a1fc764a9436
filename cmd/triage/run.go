package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/spf13/cobra"
)

// runOptions are what one call of `triage run` asks for.
type runOptions struct {
	askFlags
	report string
	python string
}

func newRun(std streams) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARG]...",
		Short: "Run a command, and say why when it fails",
		Long: `Runs a command with its input, output, signals and exit status unchanged. When it fails, its output, this machine's
facts and the kernel's messages are diagnosed, and the answer is written to standard error.

Processes that outlive the command can write for two more seconds than it did.

Exit status: that of the command; 126 or 127 when it cannot be run.`,
		Example: `  triage run -- python train.py
  triage run --report why.md --format markdown -- torchrun --nproc-per-node 8 train.py`,
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
	cmd.Flags().StringVar(&o.report, "report", "", "write the answer to `FILE` as well, as Markdown or text when its name ends in .md or .txt, else as JSON")
	cmd.Flags().StringVar(&o.python, "python", "", "the job's interpreter, virtual or conda environment, as `PATH` (default: the command's)")
	return cmd
}

func runCommand(ctx context.Context, std streams, o *runOptions, args []string) error {
	base, known, err := o.load()
	if err != nil {
		return err
	}
	options := live.Options{Base: base, Command: args, Python: o.python}
	// What ends the command is not to end its diagnosis.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	before := make(chan *live.Machine, 1)
	go func() {
		if o.live == "off" {
			before <- nil
			return
		}
		before <- live.Read(ctx, options)
	}()
	watch := &watch{ctx: ctx, reading: matcher.New(base).Begin()}
	ended, err := live.Run(live.Job{Args: args, Stdout: os.Stdout, Stderr: os.Stderr, Watch: watch.output})
	if err != nil {
		fmt.Fprintln(std.err, "triage: "+err.Error())
		return exitStatus(ended.Code)
	}
	if ended.Code == 0 {
		return nil
	}
	stopAtInterrupt(stop)
	report := watch.report(ended, args, known, before, options)
	if err := o.answer(std, report); err != nil {
		fmt.Fprintln(std.err, "triage: "+err.Error())
	}
	ended.Mimic()
	return exitStatus(ended.Code)
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

// patience is how long the command may be held up in all because its output cannot be read as fast as it is written.
const patience = 20 * time.Second

// watch reads a command's outputs while it runs: standard error, or both where they are one, as it comes. Of standard output the
// beginning and the end are kept until then, because the order of two outputs is not to be known.
type watch struct {
	ctx     context.Context
	reading *matcher.Job
	later   []output
	first   sync.WaitGroup
	failed  []string // why an output could not be read
}

type output struct {
	name    string
	backlog *live.Backlog
}

// output begins to read one of them.
func (w *watch) output(name string) io.WriteCloser {
	if name == "stdout" {
		w.later = append(w.later, output{name, &live.Backlog{}})
		return w.later[len(w.later)-1].backlog
	}
	now := output{name, &live.Backlog{Patience: patience}}
	w.first.Go(func() { w.read(now) })
	return now.backlog
}

func (w *watch) read(o output) {
	fail := func(why any) {
		w.failed = append(w.failed, fmt.Sprintf("%s could not be read to its end: %v", o.name, why))
	}
	defer func() {
		if broken := recover(); broken != nil { // the command must not die of it
			fail(broken)
		}
	}()
	if err := w.reading.Read(w.ctx, o.name, o.backlog); err != nil {
		fail(err)
	}
	if skipped := o.backlog.Skipped(); skipped > 0 {
		w.failed = append(w.failed, fmt.Sprintf("%d KiB in the middle of %s were not read, and its line numbers leave them out", skipped>>10, o.name))
	}
}

// report answers with the facts of before and after.
func (w *watch) report(ended live.Ended, args []string, known []facts.Fact, before <-chan *live.Machine, options live.Options) *report.Report {
	w.first.Wait()
	for _, o := range w.later {
		w.read(o)
	}
	ctx := w.ctx
	if ended.Signal != 0 { // nothing that the command printed can tell; these are the words of Python's subprocess
		died := fmt.Sprintf("Command '%s' died with <Signals.%s: %d>.\n", args[0], ended.SignalName(), ended.Signal)
		_ = w.reading.Read(ctx, "triage run", strings.NewReader(died)) // a string can be read
	}
	if first := <-before; first != nil {
		now := first.Then(live.Read(ctx, options)).Within(ended.Started.Add(-clockSlack), time.Time{})
		_ = w.reading.Read(ctx, "kernel log", strings.NewReader(now.KernelLog()))
		known = append(known, now.Known(options.Base.Vocabulary)...)
	}
	report := w.reading.Report(known...)
	report.Notes = append(report.Notes, w.failed...)
	report.Stats.ElapsedMS = ended.Finished.Sub(ended.Started).Milliseconds()
	return &report
}

// clockSlack is how far the kernel's clock, which suspends with the machine, may be behind.
const clockSlack = 10 * time.Second

// answer writes the report to standard error and to the file that was asked for.
func (o *runOptions) answer(std streams, report *report.Report) error {
	std.out = std.err
	if len(report.Diagnoses) == 0 && o.output.format == "text" {
		fmt.Fprintln(std.err, "triage: the command failed, but nothing known was found in what it printed")
	} else {
		fmt.Fprintln(std.err)
		if err := o.output.show(std, report); err != nil {
			return err
		}
	}
	if o.report == "" {
		return nil
	}
	form := outputFlags{format: "json", color: "never"}
	switch filepath.Ext(o.report) {
	case ".txt":
		form.format = "text"
	case ".md":
		form.format = "markdown"
	}
	file, err := os.OpenFile(o.report, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it quotes a log, which may be private
	if err != nil {
		return err
	}
	std.out = file
	return errors.Join(form.show(std, report), file.Close())
}
