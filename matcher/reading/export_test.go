package reading

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"unicode"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/logline/loglinetest"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/pattern"
)

// ReadPlain is the judge of Read: it takes in every line.
func (r *Reading) ReadPlain(name string, from io.Reader) error {
	assembler := r.begin(name)
	_, decoded, err := logline.Decode(from)
	if err != nil {
		return err
	}
	all, err := io.ReadAll(decoded)
	if err != nil {
		return err
	}
	stats, err := ReadLines(bytes.NewReader(all), name, func(line logline.Line) error {
		r.source.lines = line.Number
		r.history.add(line)
		r.sample.Take(line)
		assembler.Feed(line)
		return nil
	})
	r.sample.TakeLast(logline.Sniff(name, all), all, int64(len(all)), int(stats.Lines))
	r.end(assembler, stats, err)
	return err
}

// Renumbered is another line of the same kind, or the line itself when it is of none.
func Renumbered(rnd *rand.Rand, line string) string {
	raw, end, _ := strings.Cut(line, "\n")
	kind, ok := pattern.LineTemplate(nil, []byte(raw))
	if !ok {
		return line
	}
	other := []byte(raw)
	for i, c := range other {
		if unicode.IsDigit(rune(c)) {
			other[i] = byte('0' + rnd.IntN(10))
			if now, _ := pattern.LineTemplate(nil, other); !bytes.Equal(now, kind) {
				other[i] = c
			}
		}
	}
	return string(other) + line[len(raw):len(line)-len(end)] + end
}

// ReadSo is Read in a certain way.
func (r *Reading) ReadSo(ctx context.Context, name string, from io.Reader, how scan.Reading) error {
	return r.read(ctx, name, from, how)
}

// ReadLines hands every line of a log to yield, in order: see loglinetest.
func ReadLines(r io.Reader, source string, yield func(logline.Line) error) (report.Stats, error) {
	stats, err := loglinetest.ReadLines(r, source, yield)
	return report.Stats{Bytes: stats.Bytes, Lines: stats.Lines, TruncatedLines: stats.TruncatedLines}, err
}
