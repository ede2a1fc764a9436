package supervise

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// patience is how long the command may be held up in all because its output cannot be read as fast as it is written.
const patience = 20 * time.Second

// readers take the copies of a job's outputs to its reader: one as it comes, the other when that one is done.
type readers struct {
	read   func(name string, output io.Reader) error
	later  []output
	first  sync.WaitGroup
	failed []string // why an output could not be read; written by one reader at a time
}

type output struct {
	name   string
	copies *backlog
}

// now begins to read an output.
func (r *readers) now(name string) *backlog {
	o := output{name, newBacklog(patience)}
	r.first.Go(func() { r.one(o) })
	return o.copies
}

// afterwards keeps the beginning and the end of an output until finish.
func (r *readers) afterwards(name string) *backlog {
	o := output{name, newBacklog(0)}
	r.later = append(r.later, o)
	return o.copies
}

func (r *readers) finish() []string {
	r.first.Wait()
	for _, o := range r.later {
		r.one(o)
	}
	return r.failed
}

func (r *readers) one(o output) {
	if err := r.guarded(o); err != nil {
		r.failed = append(r.failed, fmt.Sprintf("%s could not be read to its end: %v", o.name, err))
	}
	if skipped := o.copies.Skipped(); skipped > 0 {
		r.failed = append(r.failed, fmt.Sprintf("%d KiB in the middle of %s were not read, and its line numbers leave them out", skipped>>10, o.name))
	}
	o.copies.GiveUp()
}

// guarded keeps a panic of the reader from ending the command.
func (r *readers) guarded(o output) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%v", broken)
		}
	}()
	return r.read(o.name, o.copies)
}
