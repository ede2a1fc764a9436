// Package bots is what the Slack bot, the GitHub bot and the HTTP interface share: an engine that answers within bounds of time and size
// and leaves no secret in what it says, the facts that people write beside a log, stored reports, and metrics.
//
// Rooms of it: queue keeps what must survive a kill, fetch gets logs from elsewhere, web is the HTTP server, slackbot,
// githubbot and mcpbot speak to their services.
package bots

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/report"

	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/diagnosis"
	"github.com/gpu-triage/triage/matcher/source"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
)

// Engine is the diagnosing that the bots ask for: never with facts of the machine that they run on.
type Engine struct {
	Matcher *matcher.Engine
	Layers  []fs.FS // the knowledge bases that Matcher was made of, for With
	// Live tells facts of the hosts that a log names, from a monitoring system; nil when there is none.
	Live func(ctx context.Context, log facts.LogOrigin) ([]facts.Fact, error)
	// Log is told what the notes of a report say only in words; nil for nobody.
	Log *slog.Logger

	pool
}

// A pool is what some answers share. Who waits for a turn in one does not wait for those who use another.
type pool struct {
	turns chan struct{} // as many answers at once
	time  time.Duration // for each of them
}

// NewEngine loads knowledge bases, those of Shipped and then the operator's own.
func NewEngine(layers ...fs.FS) (Engine, error) {
	base, err := rules.Open(layers...)
	if err != nil {
		return Engine{}, err
	}
	return Engine{Matcher: matcher.New(base), Layers: layers, pool: pool{make(chan struct{}, runtime.GOMAXPROCS(0)), AnswerTime}}, nil
}

// Apart returns the same engine with a pool of its own: at most so many answers at once, and a time to read the logs of each. What is not
// read by then is told in the report.
func (e Engine) Apart(most int, time time.Duration) Engine {
	e.pool = pool{make(chan struct{}, max(most, 1)), time}
	return e
}

// With returns an engine that also knows the signatures in a folder. The error names every mistake in them.
func (e Engine) With(extra fs.FS) (Engine, error) {
	more, err := NewEngine(append(slices.Clone(e.Layers), extra)...)
	more.Live, more.Log, more.pool = e.Live, e.Log, e.pool
	return more, err
}

// AnswerTime is the most that one answer takes.
const AnswerTime = 2 * time.Minute

// What one answer may cost. A log within them is read whole.
var limits = source.Limits{Bytes: 2 << 30, Ratio: 200, Entries: 10_000, Depth: 3, Held: 64 << 20}

const maxLogs = 200 // of one archive or question

// errEnough ends the reading of an archive with more logs than one answer takes.
var errEnough = errors.New("only the first logs were read")

// Answer diagnoses the logs of one situation together, with the facts that their sender gave. What cannot be read is noted in the
// report; the error is the context's. No secret is left in the report.
func (e Engine) Answer(ctx context.Context, logs []fetch.Log, given map[string]string) (answer report.Report, err error) {
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return answer, err
	}
	defer done()
	started := time.Now()
	known, _ := facts.Said(e.Matcher.Base().Vocabulary, given, "said") // who took the question said what is wrong
	reading := e.Matcher.Begin()
	notes := e.read(ctx, reading, logs)
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return answer, err
	}
	origin := reading.Origin()
	if e.Live != nil && len(origin.Hosts) > 0 {
		live, err := e.Live(ctx, origin)
		if err != nil {
			e.note("live facts are unavailable", err)
			notes = append(notes, "Live facts are unavailable: the monitoring system could not be asked just now.")
		}
		known = append(known, live...)
	}
	answer = bounded(reading.Report(known...), maxRanks)
	answer.Hosts = failedOn(origin.Hosts, answer)
	answer.Notes = append(answer.Notes, notes...)
	answer.Stats.ElapsedMS = time.Since(started).Milliseconds()
	answer.Wrong = answer.IssueLink()
	return RedactReport(answer)
}

// failedOn are the hosts on which it failed: those that the lines of the first failure name, else the only one that the logs name.
func failedOn(hosts []string, answer report.Report) (on []string) {
	for _, d := range answer.Diagnoses[:min(len(answer.Diagnoses), 1)] {
		for _, host := range hosts {
			if slices.ContainsFunc(d.Evidence, func(e report.Evidence) bool {
				return strings.Contains(e.Text, host) || strings.Contains(e.Source, host)
			}) {
				on = append(on, host)
			}
		}
	}
	if len(on) == 0 && len(hosts) == 1 {
		return hosts
	}
	return on
}

// Choose applies a library's backend rules to what the logs of one situation say and what else is known. Notes about logs that could not
// be read are among those of the choice. The error is the context's.
func (e Engine) Choose(ctx context.Context, library *backend.Library, logs []fetch.Log, known []facts.Fact) (choice diagnosis.Choice, err error) {
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return choice, err
	}
	defer done()
	reading := e.Matcher.Begin()
	notes := e.read(ctx, reading, logs)
	choice = reading.Choose(library, known...)
	choice.Notes = append(choice.Notes, notes...)
	return choice, nil
}

// begin waits for a processor, and bounds the time of what is begun. Done ends it.
func (e Engine) begin(ctx context.Context) (bounded context.Context, done func(), err error) {
	select {
	case e.turns <- struct{}{}:
	case <-ctx.Done():
		return ctx, nil, ctx.Err()
	}
	bounded, cancel := context.WithTimeout(ctx, e.time)
	return bounded, func() { cancel(); <-e.turns }, nil
}

// read takes in every log and returns notes about what could not be read.
func (e Engine) read(ctx context.Context, reading *matcher.Job, logs []fetch.Log) (notes []string) {
	count := 0
	for _, log := range logs {
		err := func() error {
			r, err := log.Open()
			if err != nil {
				return err
			}
			defer r.Close()
			return source.Each(log.Name, r, limits, func(name string, r io.Reader) error {
				if count++; count > maxLogs {
					return errEnough
				}
				buffered := bufio.NewReaderSize(r, 4096)
				if head, _ := buffered.Peek(1024); !isText(head) {
					return nil
				}
				return reading.Read(ctx, name, buffered)
			})
		}()
		if err != nil {
			e.note("a log was not read to its end", err)
			notes = append(notes, partly(log.Name, err))
		}
	}
	return notes
}

// note logs the error behind a note.
func (e Engine) note(what string, err error) {
	if e.Log != nil {
		e.Log.Info(what, "error", err)
	}
}

// isText says no to binaries. UTF-16 has NUL bytes, but begins with a mark.
func isText(head []byte) bool {
	marked := bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
	return marked || bytes.Count(head, []byte{0}) <= len(head)/10
}
