package matcher

import (
	"context"
	"io"

	"github.com/gpu-triage/triage/matcher/scan"
)

// ReadPlain is the judge of Read: it takes in every line.
func (r *Reading) ReadPlain(name string, from io.Reader) error {
	assembler := r.begin(name)
	stats, err := ReadLines(from, name, func(line Line) error {
		r.source.lines = line.Number
		r.history.add(line)
		assembler.Feed(line)
		return nil
	})
	r.end(assembler, stats, err)
	return err
}

// ReadEager is Read of a log that comes piece by piece.
func (r *Reading) ReadEager(ctx context.Context, name string, from io.Reader) error {
	return r.read(ctx, name, from, scan.Reading{Eager: true})
}
