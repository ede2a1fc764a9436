package reading

import (
	"fmt"
	"io"

	"github.com/gpu-triage/triage/matcher/flight"
)

// dump takes in a dump of NCCL's flight recorder.
func (r *Reading) dump(name string, from io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(from, flight.MaxBytes+1))
	if err != nil {
		return err
	}
	if len(data) > flight.MaxBytes {
		return fmt.Errorf("%s: a flight recorder's dump of more than %d MiB is not read", name, flight.MaxBytes>>20)
	}
	r.stats.Bytes += int64(len(data))
	d, err := flight.Parse(name, data)
	if err != nil {
		return err
	}
	r.dumps = append(r.dumps, d)
	return nil
}
