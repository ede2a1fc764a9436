package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/report"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/live"
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
	job := live.WatchJob()
	options := live.Options{Base: base, Command: args, Job: job, Python: o.python}
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
	engine := matcher.New(base)
	watch := &sentinel{engine: engine, known: known, watch: engine.Watch()}
	watch.limit, watch.off, err = o.stall.limit()
	if err != nil {
		return err
	}
	watch.where = func(ctx context.Context) []report.Evidence { return job.Where(ctx, options) }
	watch.say = func(still pace.Standstill, answer *report.Report) {
		announce(std.err, still)
		whole := *o
		whole.output.verbose = true // each process counts
		whole.tell(std, answer)
	}
	reading := engine.Begin()
	read := func(name string, output io.Reader) error { return reading.Read(ctx, name, output) }
	started := func(pid int) {
		job.Started(pid)
		watch.begin(ctx)
	}
	ended, err := supervise.Run(supervise.Job{Args: args, Stdout: os.Stdout, Stderr: os.Stderr, Read: read, Started: started, Copy: watch.copy})
	job.Stop()
	stood := watch.end(ended.Finished, ended.Interrupted || ended.Code > 128)
	if err != nil {
		fmt.Fprintln(std.err, "triage: "+err.Error())
		return exitStatus(ended.Code)
	}
	if ended.Code == 0 {
		return nil
	}
	stopAtInterrupt(stop)
	notes := append(ended.ReadRest(), leftBehind(job.Running())...)
	readSignal(ctx, reading, ended, args[0])
	if first := <-before; first != nil {
		now, meanwhile := sinceStart(ctx, reading, ended, first, options)
		known, notes = append(known, now...), append(notes, meanwhile...)
	}
	reading.StoodStill(stood)
	report := reading.Report(known...)
	if stood.Wait > 0 {
		showStandstill(&report, stood, watch.seen)
		o.output.verbose = true
	}
	report.Notes = append(report.Notes, notes...)
	report.Stats.ElapsedMS = ended.Finished.Sub(ended.Started).Milliseconds()
	o.tell(std, &report)
	ended.RaiseSignal()
	return exitStatus(ended.Code)
}

// maxLeft bounds the processes that are named.
const maxLeft = 64

// leftBehind says which processes of a command run on after it, and how to end them.
func leftBehind(running []live.JobProcess) []string {
	if len(running) == 0 {
		return nil
	}
	running = running[:min(len(running), maxLeft)]
	names, numbers := make([]string, len(running)), make([]string, len(running))
	for i, p := range running {
		numbers[i] = strconv.Itoa(p.PID)
		names[i] = p.String()
	}
	return []string{fmt.Sprintf("The command has ended, and what it started still runs; kill %s ends it: %s. What they print is not shown any more.",
		strings.Join(numbers, " "), strings.Join(names, "; "))}
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

// readSignal reads what a shell or Python would have said of a command that a signal ended: nothing that the command printed can tell.
func readSignal(ctx context.Context, reading *matcher.Job, ended supervise.Ended, command string) {
	if ended.Signal == 0 {
		return
	}
	// These are the words of Python's subprocess.
	died := fmt.Sprintf("Command '%s' died with <Signals.%s: %d>.\n", command, ended.SignalName(), ended.Signal)
	_ = reading.Read(ctx, "triage run", strings.NewReader(died)) // a string can be read
}

// sinceStart gives the machine's facts before and after the command, and reads what the kernel said of it while it ran. The notes are what
// the kernel said of others.
func sinceStart(ctx context.Context, reading *matcher.Job, ended supervise.Ended, before *live.Machine, options live.Options) ([]facts.Fact, []string) {
	now, notes := before.Then(live.Read(ctx, options)).Within(ended.Started.Add(-clockSlack), time.Time{}).Of(options.Job)
	_ = reading.ReadMachine(ctx, live.KernelLogName, strings.NewReader(now.KernelLog())) // a string can be read
	return now.Known(options.Base.Vocabulary), notes
}

// clockSlack is how far the kernel's clock, which suspends with the machine, may be behind.
const clockSlack = 10 * time.Second

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
