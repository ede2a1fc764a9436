package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of a batch, in bytes.
const maxLine = 1 << 20

// question is a line of a batch, and reply its answer.
type question struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Name    string          `json:"name"`
	Version string          `json:"version"`
}

type reply struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Present *bool           `json:"present"`
	Why     string          `json:"why,omitempty"` // why it is not known
	Error   string          `json:"error,omitempty"`
}

// Batch answers one question a line, in order: JSON Lines {"name", "version"} in, {"present": true, false or null} out. A line that
// cannot be read is answered by {"present": null, "error"}. The error tells that reading or writing failed.
func Batch(in io.Reader, out io.Writer) error {
	b := batch{packages: make(map[string]*Package)}
	w := bufio.NewWriter(out)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := encoder.Encode(b.answer(lines.Bytes())); err != nil {
			return err
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("a line has more than %d bytes", maxLine)
	}
	return errors.Join(err, w.Flush())
}

// batch keeps the packages that were asked about.
type batch struct{ packages map[string]*Package }

func (b *batch) answer(line []byte) reply {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return reply{Error: err.Error()}
	}
	r := reply{ID: q.ID}
	name, err := ParseName(q.Name)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	p, err := b.open(name.Dotted)
	switch {
	case errors.Is(err, ErrNotCovered):
		r.Why = err.Error()
		return r
	case err != nil:
		r.Error = err.Error()
		return r
	}
	switch p.At(name, q.Version) {
	case Present:
		r.Present = new(true)
	case Absent:
		r.Present = new(false)
	case Unknown:
		r.Why = p.why(q.Version)
	}
	return r
}

// why says why nothing is known at a version.
func (p *Package) why(version string) string {
	if _, ok := p.Index(version); !ok {
		last := p.table.Releases[len(p.table.Releases)-1]
		return fmt.Sprintf("%s %s is none of the releases that were read, which go up to %s of %s", p.Name(), version, last.Version, last.Date.Format("2006-01-02"))
	}
	return "the sources do not tell"
}

func (b *batch) open(name string) (*Package, error) {
	d := Distribution(name)
	if p := b.packages[d]; p != nil {
		return p, nil
	}
	p, err := Open(name)
	if err == nil {
		b.packages[d] = p
	}
	return p, err
}
