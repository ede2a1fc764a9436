package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/spf13/cobra"
)

// diagnoseOptions are what one call of `triage [FILE|DIR|-]...` asks for.
type diagnoseOptions struct {
	askFlags
	follow bool
	stall  stallFlag
	paths  []string
}

func newDiagnose(std streams) *cobra.Command {
	o := &diagnoseOptions{}
	showVersion := false
	cmd := &cobra.Command{
		Use:   "triage [FILE|DIR|-]...",
		Short: "Say why a training job failed, and what to do about it",
		Long: `Reads logs of training jobs, names the root cause and a fix that works.

Logs are read from standard input when nothing is named. A folder stands for the logs in it. Logs may be
compressed (gzip, zstd) or packed (zip, tar).

Exit status: 0 a cause was named, 1 none was (nothing failed, or what failed is unexplained), 2 the call or its input was wrong.`,
		Example: `  triage train.log
  triage logs/ --fact transformer_engine=1.12.0
  torchrun train.py 2>&1 | tee train.log | triage
  triage train.log --format json | jq '.diagnoses[0].fixes'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if showVersion {
				base, err := o.rules.load()
				if err != nil {
					return err
				}
				_, err = fmt.Fprint(std.out, versionsOf(base).oneLine())
				return err
			}
			o.paths, o.output.logs = args, args
			if len(args) == 1 && !o.follow { // a log that is followed may come later
				if err := mistyped(cmd, args[0]); err != nil {
					return err
				}
			}
			return runDiagnose(cmd.Context(), std, o)
		},
	}
	o.askFlags.add(cmd)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "follow one file as it grows, and speak when something is diagnosed or the job stands still; up to Ctrl-C")
	cmd.Flags().BoolVar(&showVersion, "version", false, "print the versions of this program and of its knowledge")
	cmd.Flags().StringVar(&o.stall.text, "stall", "auto", "with -f, "+stallUsage)
	return cmd
}

// mistyped explains an argument that is no file and looks like a subcommand.
func mistyped(cmd *cobra.Command, arg string) error {
	if _, err := os.Stat(arg); err == nil || !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(arg); len(near) > 0 {
		return fmt.Errorf("%s: no such file; did you mean the command triage %s?", arg, near[0])
	}
	return nil
}

// loadingGC is how much the heap may grow, in percent, before garbage is looked for while rules are loaded: what they need stays, and
// looking for garbage among it takes a fifth of the time of a start.
const loadingGC = 400

// readingGC is the same while logs are read: hardly any garbage is made then, unless a job has thousands of logs, which fill the memory of a
// login node.
const readingGC = 60

func runDiagnose(ctx context.Context, std streams, o *diagnoseOptions) error {
	debug.SetGCPercent(loadingGC)
	base, known, err := o.load()
	if err != nil {
		return err
	}
	start := time.Now()
	engine := matcher.New(base)
	reading := engine.Begin()
	debug.SetGCPercent(readingGC)
	if o.follow {
		return o.following(ctx, std, engine, known)
	}
	shown := newProgress(std, o.paths)
	reading.Watch(shown.at)
	err = eachLog(ctx, std, o.paths, func(name string, log io.Reader) error {
		before := reading.Bytes()
		defer func() { shown.log(reading.Bytes() - before) }()
		return reading.Read(ctx, name, log)
	})
	shown.end()
	if err != nil && !errors.Is(err, context.Canceled) { // interrupted: what was found so far
		return err
	}
	now, note := ofThisMachine(ctx, o.live, base, reading.Origin(), o.paths)
	report := reading.Report(append(known, now...)...)
	if note != "" {
		report.Notes = append(report.Notes, note)
	}
	report.Stats.ElapsedMS = time.Since(start).Milliseconds()
	if err := o.output.show(std, &report); err != nil {
		return err
	}
	return statusOf(&report)
}

// statusOf is how a call ends that has shown a report.
func statusOf(r *report.Report) error {
	if !r.Explained() {
		return exitStatus(exitNothing)
	}
	return nil
}

// following diagnoses a log that grows.
func (o *diagnoseOptions) following(ctx context.Context, std streams, engine *matcher.Engine, known []facts.Fact) error {
	if len(o.paths) != 1 || o.paths[0] == "-" {
		return errors.New("-f follows one file; standard input is read as it comes")
	}
	if _, _, err := o.stall.limit(); err != nil {
		return err
	}
	job, name := engine.Begin(), o.paths[0]
	show := func(report report.Report) error { return o.output.show(std, &report) }
	return (&follower{
		name: name, job: job, watch: engine.Watch(), limit: o.stall, show: show,
		answer: func() report.Report { return job.Report(known...) },
		waits:  func() { fmt.Fprintf(std.err, "triage: %s does not exist yet; it is waited for\n", name) },
		stands: func(still pace.Standstill) (report.Report, error) {
			announce(std.err, still)
			answer, err := standing(ctx, engine, name, still, known)
			whole := o.output
			whole.verbose = true // each process counts
			return answer, errors.Join(err, whole.show(std, &answer))
		},
	}).follow(ctx)
}

// standing is what a log comes to whose job stands still.
func standing(ctx context.Context, engine *matcher.Engine, name string, still pace.Standstill, known []facts.Fact) (report.Report, error) {
	file, err := os.Open(name)
	if err != nil {
		return report.Report{}, err
	}
	defer file.Close()
	again := engine.Begin() // the paces of a log are summed up at its end
	err = again.Read(ctx, sourceName(name), file)
	again.StoodStill(still)
	answer := again.Report(known...)
	showStandstill(&answer, still, nil)
	return answer, err
}
