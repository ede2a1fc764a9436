package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/supervise"
)

// failed is a command that failed, and what is known of it.
type failed struct {
	ended   supervise.Ended
	stood   pace.Standstill
	reading *matcher.Job // of what it printed
	known   []facts.Fact // by the user
	before  <-chan *live.Machine
	options live.Options
}

// answer says why it failed.
func (f *failed) answer(ctx context.Context) report.Report {
	known := f.known
	notes := append(f.ended.ReadRest(), leftBehind(f.options.Job.Running())...)
	f.readSignal(ctx)
	if before := <-f.before; before != nil {
		now, meanwhile := f.sinceStart(ctx, before)
		known, notes = append(known, now...), append(notes, meanwhile...)
	}
	f.reading.StoodStill(f.stood)
	answer := f.reading.Report(known...)
	answer.Notes = append(answer.Notes, notes...)
	answer.Stats.ElapsedMS = f.ended.Finished.Sub(f.ended.Started).Milliseconds()
	return answer
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

// readSignal reads what a shell or Python would have said of a command that a signal ended: nothing that the command printed can tell.
func (f *failed) readSignal(ctx context.Context) {
	if f.ended.Signal == 0 {
		return
	}
	// These are the words of Python's subprocess.
	died := fmt.Sprintf("Command '%s' died with <Signals.%s: %d>.\n", f.options.Command[0], f.ended.SignalName(), f.ended.Signal)
	_ = f.reading.Read(ctx, "triage run", strings.NewReader(died)) // a string can be read
}

// sinceStart gives the machine's facts before and after the command, and reads what the kernel said of it while it ran. The notes are what
// the kernel said of others.
func (f *failed) sinceStart(ctx context.Context, before *live.Machine) ([]facts.Fact, []string) {
	since := before.Then(live.Read(ctx, f.options)).Within(f.ended.Started.Add(-clockSlack), time.Time{})
	now, notes := since.Of(f.options.Job)
	_ = f.reading.ReadMachine(ctx, live.KernelLogName, strings.NewReader(now.KernelLog())) // a string can be read
	return now.Known(f.options.Base.Vocabulary), notes
}

// clockSlack is how far the kernel's clock, which suspends with the machine, may be behind.
const clockSlack = 10 * time.Second
