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
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/pattern"
)

// ReadPlain is the judge of Read: it takes in every line.
func (r *Reading) ReadPlain(name string, from io.Reader) error {
	s := r.begin(name)
	_, decoded, err := logline.Decode(from)
	if err != nil {
		return err
	}
	all, err := io.ReadAll(decoded)
	if err != nil {
		return err
	}
	stats, err := loglinetest.ReadLines(bytes.NewReader(all), name, func(line logline.Line) error {
		s.progress.lines = line.Number
		s.take(line, anything, nil)
		return nil
	})
	s.pace.sample.TakeLast(logline.Sniff(name, all), all, int64(len(all)), int(stats.Lines))
	r.count(report.Stats{Bytes: stats.Bytes, Lines: stats.Lines, TruncatedLines: stats.TruncatedLines})
	r.stats.Incomplete = r.stats.Incomplete || err != nil
	s.end()
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
