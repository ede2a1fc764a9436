package reading

import (
	"fmt"
	"io"

	"github.com/gpu-triage/triage/matcher/flight"
	"github.com/gpu-triage/triage/matcher/logline"
)

// dumps are those of the flight recorder that were read.
type dumps struct {
	all      []*flight.Dump
	compared int // how many of them
}

// read takes in a dump. It tells the size of it, in bytes.
func (d *dumps) read(name string, from io.Reader) (size int64, err error) {
	data, err := io.ReadAll(io.LimitReader(from, flight.MaxBytes+1))
	if err != nil {
		return 0, err
	}
	if len(data) > flight.MaxBytes {
		return 0, fmt.Errorf("%s: a flight recorder's dump of more than %d MiB is not read", name, flight.MaxBytes>>20)
	}
	dump, err := flight.Parse(name, data)
	if err == nil {
		d.all = append(d.all, dump)
	}
	return int64(len(data)), err
}

// compareDumps takes what the dumps show together for lines of their ranks. It does so once: a dump that comes later is compared with all.
func (r *Reading) compareDumps() {
	d := &r.dumps
	if len(d.all) == d.compared {
		return
	}
	d.compared = len(d.all)
	for _, remark := range flight.Compare(d.all) {
		s := &source{Reading: r, progress: r.survival.in(remark.Dump.Source)}
		s.line(logline.Line{Source: remark.Dump.Source, Number: 1, Rank: remark.Dump.Rank, Writer: fmt.Sprint("rank ", remark.Dump.Rank), Text: remark.Text})
	}
}
