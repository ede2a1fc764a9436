package reading

import (
	"bytes"
	"context"
	"io"
	"math"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/logline/loglinetest"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/scan"
)

// ReadPlain is the judge of Read: it takes in every line.
func (r *Reading) ReadPlain(name string, from io.Reader) error {
	s := r.begin(name)
	s.lines.spent, s.raisings.spent = math.MinInt/2, math.MinInt/2 // it matches what the scan lets go
	_, decoded, err := logline.Decode(from)
	if err != nil {
		return err
	}
	all, err := io.ReadAll(decoded)
	if err != nil {
		return err
	}
	s.history.form = logline.Sniff(name, all)
	s.keepHead(all)
	stats, err := loglinetest.ReadLines(bytes.NewReader(all), name, func(line logline.Line) error {
		s.progress.lines = line.Number
		s.take(line, anything, nil)
		return nil
	})
	s.pace.sample.TakeLast(logline.Sniff(name, all), all, int64(len(all)), int(stats.Lines))
	s.tails.add(logline.Sniff(name, all), all, int64(len(all)), int(stats.Lines))
	r.count(report.Stats{Bytes: stats.Bytes, Lines: stats.Lines, TruncatedLines: stats.TruncatedLines})
	r.stats.Incomplete = r.stats.Incomplete || err != nil
	s.end()
	return err
}

// ReadSo is Read in a certain way.
func (r *Reading) ReadSo(ctx context.Context, name string, from io.Reader, how scan.Reading) error {
	return r.read(ctx, name, from, how)
}
