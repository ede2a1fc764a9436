package bots

import (
	"errors"
	"io"
	"sync/atomic"
)

// ErrBusy says that other requests hold too much just now: it is worth trying again soon.
var ErrBusy = errors.New("too much is being sent just now: try again in a minute")

// Budget bounds the bytes that requests hold together, however many there are. It is charged for what has come, not for what a sender
// says will come: one who sends slowly takes nothing from the others.
type Budget struct {
	most int64
	used atomic.Int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(most int64) *Budget { return &Budget{most: most} }

// Reader reads from r, and fails with ErrBusy when the budget is spent. Close gives back what was read, and does not close r.
func (b *Budget) Reader(r io.Reader) io.ReadCloser { return &budgeted{from: r, budget: b} }

type budgeted struct {
	from   io.Reader
	budget *Budget
	taken  int64
}

func (r *budgeted) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.taken += int64(n)
	if r.budget.used.Add(int64(n)) > r.budget.most && n > 0 {
		_ = r.Close() // at once, so that of many who come together only as many fail as have to
		return n, ErrBusy
	}
	return n, err
}

func (r *budgeted) Close() error {
	r.budget.used.Add(-r.taken)
	r.taken = 0
	return nil
}
