package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/report"
)

// stallFlag is after how long without anything new a job is said to stand still.
type stallFlag struct{ text string }

const stallUsage = "after how long without anything new the job is said to stand still, as 10m; auto: when steps were seen, after 20 times the usual one and at least 5m; off: never"

// limit is that time, 0 for auto; off tells that nobody wants to know.
func (f stallFlag) limit() (limit time.Duration, off bool, err error) {
	switch f.text {
	case "", "auto":
		return 0, false, nil
	case "off", "0":
		return 0, true, nil
	}
	limit, err = time.ParseDuration(f.text)
	if err != nil || limit <= 0 {
		return 0, false, fmt.Errorf("--stall %s: it is auto, off, or a time as 10m or 90s", f.text)
	}
	return limit, false, nil
}

// lookEvery is how often somebody looks whether a job stands still.
const lookEvery = 250 * time.Millisecond

// sentinel watches a job while it runs, and says when it stands still.
type sentinel struct {
	engine *matcher.Engine
	known  []facts.Fact
	limit  time.Duration // 0: the usual bounds
	off    bool
	where  func(ctx context.Context) []report.Evidence // the processes of the job are, and what the GPUs do
	say    func(pace.Standstill, *report.Report)

	watch   *pace.Watch
	outputs []*excerpt
	seen    []report.Evidence // what where said when the job was first suspected to stand still
	seenAt  time.Time
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// copy is what gets a copy of an output.
func (s *sentinel) copy(name string) io.Writer {
	kept := &excerpt{name: name}
	s.outputs = append(s.outputs, kept)
	return io.MultiWriter(s.watch.Output(name), kept)
}

// begin watches until end.
func (s *sentinel) begin(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.done.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		var told time.Time // since when the job stood still that was told last
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				told = s.look(ctx, now, told)
			}
		}
	})
}

// look looks once, and returns since when the job stands still that was told last.
func (s *sentinel) look(ctx context.Context, now, told time.Time) time.Time {
	s.watch.Look(now)
	still := s.watch.Still(now, s.limit)
	switch {
	case !s.off && still.Wait > 0 && !still.Since.Equal(told):
		s.seen, s.seenAt = s.where(ctx), now
		s.say(still, s.answer(ctx, still))
		return still.Since
	case s.watch.Suspected(now) && s.seenAt.Before(still.Since):
		s.seen, s.seenAt = s.where(ctx), now
	}
	return told
}

// end ends the watching and tells whether the job stood still before its end, which somebody may have asked for.
func (s *sentinel) end(now time.Time, asked bool) pace.Standstill {
	if s.stop == nil { // the command could not be run
		return pace.Standstill{}
	}
	s.stop()
	s.done.Wait()
	s.watch.Look(now)
	return s.watch.Stood(now, s.limit, asked)
}

// answer is what the job printed until now comes to, with where its processes are.
func (s *sentinel) answer(ctx context.Context, still pace.Standstill) *report.Report {
	reading := s.engine.Begin()
	for _, output := range s.outputs {
		_ = reading.Read(ctx, output.name, output.reader()) // memory can be read
	}
	if len(still.Lasts) == 0 {
		still.Lasts = []logline.Line{{Source: "output", Rank: logline.NoRank, Text: "nothing was printed"}}
	}
	reading.StoodStill(still)
	answer := reading.Report(s.known...)
	showStandstill(&answer, still, s.seen)
	return &answer
}

// elsewhere names the ranks that are at another place than most.
func elsewhere(where []report.Evidence) (note string) {
	places, count := make(map[int]string), make(map[string]int)
	for _, e := range where {
		if e.Rank != nil {
			places[*e.Rank] += logline.MaskNumbers(e.Text) + "\n"
		}
	}
	for _, place := range places {
		count[place]++
	}
	var others []string
	for _, rank := range slices.Sorted(maps.Keys(places)) {
		if 2*count[places[rank]] <= len(places) {
			others = append(others, strconv.Itoa(rank))
		}
	}
	if len(others) == 0 || 2*len(others) >= len(places) {
		return ""
	}
	return fmt.Sprintf("Most ranks are at one place, and rank %s elsewhere: look there first.", strings.Join(others, ", "))
}

// maxLasts bounds the processes whose last line is shown.
const maxLasts = 16

// showStandstill adds to an answer the last line of each process, of those that stopped first the first, and where the processes are.
func showStandstill(answer *report.Report, still pace.Standstill, where []report.Evidence) {
	if len(answer.Diagnoses) == 0 {
		return
	}
	d := &answer.Diagnoses[0]
	type place struct {
		source string
		line   int
	}
	shown := make(map[place]bool)
	for _, e := range d.Evidence {
		shown[place{e.Source, e.Line}] = true
	}
	for _, line := range still.Lasts[:min(len(still.Lasts), maxLasts)] {
		if shown[place{line.Source, line.Number}] {
			continue
		}
		e := report.Evidence{Source: line.Source, Line: line.Number, Text: report.Redact(line.Text)}
		if line.Rank != logline.NoRank {
			e.Rank = &line.Rank
		}
		d.Evidence = append(d.Evidence, e)
	}
	d.Evidence = append(d.Evidence, where...)
	if note := elsewhere(where); note != "" {
		answer.Notes = append(answer.Notes, note)
	}
}

// announce is the line before such an answer.
func announce(out io.Writer, still pace.Standstill) {
	text := fmt.Sprintf("nothing new for %s, since %s", still.Wait.Round(time.Second), still.Since.Format(time.TimeOnly))
	if still.Usual > 0 {
		text += fmt.Sprintf("; from step to step it took %s", still.Usual.Round(100*time.Millisecond))
	}
	fmt.Fprintf(out, "\ntriage: %s\n", text)
}

// excerpt keeps the beginning and the end of an output. It may be read while it is written.
type excerpt struct {
	name  string
	mutex sync.Mutex
	begin []byte
	end   []byte
	cut   bool
}

// maxExcerpt bounds each of the two, in bytes.
const maxExcerpt = 1 << 20

// Write never fails.
func (e *excerpt) Write(p []byte) (int, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	first := min(len(p), maxExcerpt-len(e.begin))
	e.begin = append(e.begin, p[:first]...)
	e.end = append(e.end, p[first:]...)
	if over := len(e.end) - 2*maxExcerpt; over > 0 { // seldom
		e.end, e.cut = append(e.end[:0], e.end[over+maxExcerpt:]...), true
	}
	return len(p), nil
}

func (e *excerpt) reader() io.Reader {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	end := bytes.Clone(e.end)
	if e.cut {
		_, end, _ = bytes.Cut(end, []byte{'\n'})
	}
	return bytes.NewReader(append(bytes.Clone(e.begin), end...))
}
