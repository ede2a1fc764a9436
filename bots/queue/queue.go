package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	jobSubjects  = "triage.jobs."
	deadSubjects = "triage.dead."
)

// Job is something to answer. It is stored before its request is acknowledged.
type Job struct {
	ID       string          `json:"id"`   // of the delivery: the same id a second time is dropped
	Kind     string          `json:"kind"` // whose work it is: "slack" or "github"
	Key      string          `json:"key"`  // what it is about: two jobs of one key never run at once, the later replaces a waiting one
	Received time.Time       `json:"received"`
	Data     json.RawMessage `json:"data"`
}

// Handler answers a job. It must be safe to call again for a job that it half did. An error means again later, unless it is
// Permanent; an error made by Later says when.
type Handler func(ctx context.Context, job Job) error

// ErrFull is returned by Add while too many jobs wait.
var ErrFull = errors.New("too much work waits already")

type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Permanent marks an error that no second try can help.
func Permanent(err error) error { return permanentError{err} }

type laterError struct {
	error
	after time.Duration
}

func (e laterError) Unwrap() error { return e.error }

// Later marks an error that says itself when to try again, such as a rate limit. It does not count as a failed try.
func Later(err error, after time.Duration) error {
	return laterError{err, max(after, 100*time.Millisecond)}
}

// Waits tells whether an error was made by Later.
func Waits(err error) bool {
	var late laterError
	return errors.As(err, &late)
}

// Queue hands every stored job to a handler until it is answered or given up.
type Queue struct {
	store    *Store
	metrics  *metrics
	log      *slog.Logger
	attempts int // failed tries after which a job is given up
	added    atomic.Int64
}

// New returns the queue in a store. Its metrics go to registry.
func New(store *Store, registry prometheus.Registerer, log *slog.Logger, attempts int) *Queue {
	return &Queue{store: store, metrics: newMetrics(registry, store), log: log, attempts: max(attempts, 1)}
}

// Add stores a job. When it returns nil the job will be answered, and the request may be acknowledged.
func (q *Queue) Add(ctx context.Context, job Job) error {
	if job.Received.IsZero() {
		job.Received = time.Now().UTC()
	}
	data, err := json.Marshal(job)
	if err != nil {
		return err
	}
	if len(data) > MaxBytes {
		return fmt.Errorf("a request of %d bytes is more than the %d that the queue takes", len(data), MaxBytes)
	}
	message := nats.NewMsg(jobSubjects + job.Kind + "." + token(job.Key))
	message.Data = data
	message.Header.Set(jetstream.MsgIDHeader, job.Kind+":"+job.ID)
	q.added.Add(1)
	if err := q.store.Writable(); err != nil {
		q.metrics.failed(job.Kind, "store")
		return fmt.Errorf("store the request: %w", err)
	}
	duplicate, err := q.store.commits.put(ctx, message)
	if err != nil {
		q.metrics.failed(job.Kind, "store")
		if api := (&jetstream.APIError{}); errors.As(err, &api) && strings.Contains(api.Description, "maximum") {
			return ErrFull
		}
		return fmt.Errorf("store the request: %w", err)
	}
	q.metrics.received(job.Kind, duplicate)
	return nil
}
