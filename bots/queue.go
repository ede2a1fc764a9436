package bots

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
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

// Queue hands every stored job to a handler until it is answered or given up.
type Queue struct {
	store    *Store
	metrics  *Metrics
	log      *slog.Logger
	attempts int // failed tries after which a job is given up
	added    atomic.Int64
}

// NewQueue returns the queue in a store.
func NewQueue(store *Store, metrics *Metrics, log *slog.Logger, attempts int) *Queue {
	q := &Queue{store: store, metrics: metrics, log: log, attempts: max(attempts, 1)}
	metrics.watch(store)
	return q
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
	if len(data) > maxJob {
		return fmt.Errorf("a request of %d bytes is more than the %d that the queue takes", len(data), maxJob)
	}
	message := nats.NewMsg(jobSubjects + job.Kind + "." + token(job.Key))
	message.Data = data
	message.Header.Set(jetstream.MsgIDHeader, job.Kind+":"+job.ID)
	q.added.Add(1)
	duplicate, err := q.store.commits.put(ctx, message)
	if err != nil {
		q.metrics.failures.WithLabelValues(job.Kind, "store").Inc()
		if api := (&jetstream.APIError{}); errors.As(err, &api) && strings.Contains(api.Description, "maximum") {
			return ErrFull
		}
		return fmt.Errorf("store the request: %w", err)
	}
	q.metrics.received(job.Kind, duplicate)
	return nil
}

// Work runs a handler over the jobs of a kind, several at once, until the context ends; then it waits up to grace for those begun.
func (q *Queue) Work(ctx context.Context, kind string, workers int, grace time.Duration, handle Handler) error {
	consumer, err := q.store.jobs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: kind, FilterSubject: jobSubjects + kind + ".>", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: q.store.lease, MaxAckPending: 10_000, MaxDeliver: -1,
	})
	if err != nil {
		return fmt.Errorf("consume %s jobs: %w", kind, err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, stop) })
	var group sync.WaitGroup
	var rush atomic.Bool
	group.Go(func() { q.watch(ctx, &rush) })
	for i := range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				if i > 0 && rush.Load() {
					time.Sleep(rushLook)
					continue
				}
				q.next(ctx, running, consumer, handle)
			}
		})
	}
	group.Wait()
	return nil
}

// While requests rush in, all workers but one step aside: whoever sent a request waits for its acknowledgement, but not for the answer.
const (
	rushLook = 100 * time.Millisecond
	rushRate = 30 // requests in that time
)

func (q *Queue) watch(ctx context.Context, rush *atomic.Bool) {
	tick := time.NewTicker(rushLook)
	defer tick.Stop()
	for before := q.added.Load(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := q.added.Load()
			rush.Store(now-before > rushRate)
			before = now
		}
	}
}

// next waits a moment for one job and does it.
func (q *Queue) next(ctx, running context.Context, consumer jetstream.Consumer, handle Handler) {
	wait, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	message, err := consumer.Next(jetstream.FetchContext(wait))
	switch {
	case err == nil:
		q.do(running, message, handle)
	case ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout):
		q.log.Warn("waiting for work failed", "error", report.Redact(err.Error()))
		time.Sleep(time.Second)
	}
}

// progress is what is remembered of a job that failed.
type progress struct {
	Failures int       `json:"failures"`
	First    time.Time `json:"first"`
}

// A job that was handed out this often without any outcome, not even an error, kills whoever takes it.
const maxDeliveries = 500

func (q *Queue) do(ctx context.Context, message jetstream.Msg, handle Handler) {
	var job Job
	if err := json.Unmarshal(message.Data(), &job); err != nil {
		q.bury(ctx, message, Job{ID: "unreadable", Kind: "unknown"}, 0, fmt.Errorf("unreadable job: %w", err))
		return
	}
	CrashPoint("taken")
	if meta, err := message.Metadata(); err == nil && meta.NumDelivered > maxDeliveries {
		q.bury(ctx, message, job, int(meta.NumDelivered), errors.New("handed out again and again without an outcome: it seems to kill the process"))
		return
	}
	held, release, err := q.store.hold(ctx, "job:"+job.Kind+":"+job.Key, func() { _ = message.InProgress() })
	if err != nil {
		_ = message.NakWithDelay(q.store.lease / 4)
		return
	}
	defer release()
	started := time.Now()
	err = protect(func() error { return handle(held, job) })
	CrashPoint("handled")
	q.settle(context.WithoutCancel(ctx), message, job, started, err)
}

// protect turns a panic over one job into an error, so that it fails alone.
func protect(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// settle ends a job, puts it off, or gives it up.
func (q *Queue) settle(ctx context.Context, message jetstream.Msg, job Job, started time.Time, err error) {
	log := q.log.With("delivery", job.ID, "kind", job.Kind, "key", job.Key)
	if err == nil {
		if err := message.DoubleAck(ctx); err != nil {
			log.Warn("done, but the queue did not hear it: it will be looked at again", "error", err)
		}
		q.metrics.done(job, started)
		log.Info("done", "seconds", time.Since(started).Seconds(), "waited", started.Sub(job.Received).Seconds())
		return
	}
	reason := report.Redact(err.Error())
	if late := (laterError{}); errors.As(err, &late) {
		if time.Since(job.Received) > 24*time.Hour {
			q.bury(ctx, message, job, 0, err)
			return
		}
		log.Info("put off", "reason", reason, "seconds", late.after.Seconds())
		_ = message.NakWithDelay(late.after)
		return
	}
	q.metrics.failures.WithLabelValues(job.Kind, "try").Inc()
	p := progress{First: time.Now()}
	if _, err := q.store.Load(ctx, "progress:"+job.Kind+job.ID, &p); err != nil {
		log.Warn("progress of a job cannot be read", "error", err)
	}
	p.Failures++
	if permanent := (permanentError{}); errors.As(err, &permanent) || p.Failures >= q.attempts {
		q.bury(ctx, message, job, p.Failures, err)
		return
	}
	if err := q.store.Save(ctx, "progress:"+job.Kind+job.ID, p); err != nil {
		log.Warn("progress of a job cannot be kept", "error", err)
	}
	delay := backoff(p.Failures)
	log.Warn("failed, will try again", "reason", reason, "failures", p.Failures, "seconds", delay.Seconds())
	_ = message.NakWithDelay(delay)
}

// backoff is 1 s, 2 s, 4 s, ... up to 5 minutes, each up to a fifth longer.
func backoff(failures int) time.Duration {
	d := min(time.Second<<min(failures-1, 20), 5*time.Minute)
	return d + time.Duration(rand.Int64N(int64(d)/5))
}

// Dead is a job that was given up, with the reason.
type Dead struct {
	Job      Job       `json:"job"`
	Reason   string    `json:"reason"`
	Failures int       `json:"failures"`
	At       time.Time `json:"at"`
	Sequence uint64    `json:"sequence"` // its number among the dead
}

// bury moves a job to the dead, where an operator finds it: the log, a metric and the stream of the dead name it.
func (q *Queue) bury(ctx context.Context, message jetstream.Msg, job Job, failures int, cause error) {
	reason := report.Redact(cause.Error())
	data, _ := json.Marshal(Dead{Job: job, Reason: reason, Failures: failures, At: time.Now().UTC()})
	if _, err := q.store.js.Publish(ctx, deadSubjects+job.Kind, data); err != nil {
		q.log.Error("a job failed for good but cannot be kept among the dead: it stays in the queue",
			"delivery", job.ID, "reason", reason, "error", report.Redact(err.Error()))
		_ = message.NakWithDelay(time.Minute)
		return
	}
	_ = message.Term()
	q.metrics.failures.WithLabelValues(job.Kind, "dead").Inc()
	q.log.Error("given up", "delivery", job.ID, "kind", job.Kind, "key", job.Key, "failures", failures, "reason", reason,
		"do", "see GET /dead; mend the cause, then POST /dead/{sequence} to try again")
}

// Dead lists what was given up, newest last, at most limit of them.
func (q *Queue) Dead(ctx context.Context, limit int) ([]Dead, error) {
	info, err := q.store.dead.Info(ctx)
	if err != nil {
		return nil, err
	}
	var all []Dead
	for seq := info.State.LastSeq; seq >= info.State.FirstSeq && seq > 0 && len(all) < limit; seq-- {
		raw, err := q.store.dead.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var d Dead
		if json.Unmarshal(raw.Data, &d) == nil {
			d.Sequence = seq
			all = append(all, d)
		}
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all, nil
}

// Revive puts a dead job back into the queue.
func (q *Queue) Revive(ctx context.Context, sequence uint64) error {
	raw, err := q.store.dead.GetMsg(ctx, sequence)
	if err != nil {
		return err
	}
	var d Dead
	if err := json.Unmarshal(raw.Data, &d); err != nil {
		return err
	}
	// The old id would be taken for a repeated delivery.
	d.Job.ID = fmt.Sprintf("%s-again%d", d.Job.ID, sequence)
	d.Job.Received = time.Now().UTC()
	if err := q.Add(ctx, d.Job); err != nil {
		return err
	}
	return q.store.dead.DeleteMsg(ctx, sequence)
}
