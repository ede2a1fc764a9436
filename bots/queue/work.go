package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpu-triage/triage/matcher/report"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Work runs a handler over the jobs of a kind, several at once, until the context ends; then it waits up to grace for those begun.
func (q *Queue) Work(ctx context.Context, kind string, workers int, grace time.Duration, handle Handler) error {
	consumer, err := q.soundConsumer(ctx, kind)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, stop) })
	var group sync.WaitGroup
	var rush atomic.Bool
	group.Go(func() { q.watch(ctx, &rush) })
	group.Go(func() { q.audit(ctx, kind, auditEvery) })
	for i := range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				if i > 0 && rush.Load() || q.store.Writable() != nil { // what an answer needs cannot be stored either
					time.Sleep(rushLook)
					continue
				}
				q.next(ctx, running, kind, consumer, handle)
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
func (q *Queue) next(ctx, running context.Context, kind string, consumer jetstream.Consumer, handle Handler) {
	wait, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	message, err := consumer.Next(jetstream.FetchContext(wait))
	switch {
	case err == nil:
		q.do(running, message, handle)
	case ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout):
		q.log.Warn("waiting for work failed", "error", report.Redact(err.Error()))
		time.Sleep(time.Second)
		if _, err := q.makeConsumer(ctx, kind); err != nil { // the store may have been opened again without it
			q.log.Warn("the consumer cannot be made again", "error", report.Redact(err.Error()))
		}
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
		q.giveUp(ctx, message, Job{ID: "unreadable", Kind: "unknown"}, 0, fmt.Errorf("unreadable job: %w", err))
		return
	}
	CrashPoint("taken")
	if meta, err := message.Metadata(); err == nil && meta.NumDelivered > maxDeliveries {
		q.giveUp(ctx, message, job, int(meta.NumDelivered), errors.New("handed out again and again without an outcome: it seems to kill the process"))
		return
	}
	held, release, err := q.store.takeLease(ctx, "job:"+job.Kind+":"+job.Key, func() { _ = message.InProgress() })
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
			q.giveUp(ctx, message, job, 0, err)
			return
		}
		log.Info("put off", "reason", reason, "seconds", late.after.Seconds())
		_ = message.NakWithDelay(late.after)
		return
	}
	q.metrics.failed(job.Kind, "try")
	p := progress{First: time.Now()}
	if _, err := q.store.Load(ctx, "progress:"+job.Kind+job.ID, &p); err != nil {
		log.Warn("progress of a job cannot be read", "error", err)
	}
	p.Failures++
	if permanent := (permanentError{}); errors.As(err, &permanent) || p.Failures >= q.attempts {
		q.giveUp(ctx, message, job, p.Failures, err)
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
