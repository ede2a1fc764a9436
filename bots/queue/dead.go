package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gpu-triage/triage/matcher/report"

	"github.com/nats-io/nats.go/jetstream"
)

// Dead is a job that was given up, with the reason.
type Dead struct {
	Job      Job       `json:"job"`
	Reason   string    `json:"reason"`
	Failures int       `json:"failures"`
	At       time.Time `json:"at"`
	Sequence uint64    `json:"sequence"` // its number among the dead
}

// giveUp moves a job to the dead, where an operator finds it: the log, a metric and the stream of the dead name it.
func (q *Queue) giveUp(ctx context.Context, message jetstream.Msg, job Job, failures int, cause error) {
	reason := report.Redact(cause.Error())
	data, _ := json.Marshal(Dead{Job: job, Reason: reason, Failures: failures, At: time.Now().UTC()})
	if _, err := q.store.js.Publish(ctx, deadSubjects+job.Kind, data); err != nil {
		q.log.Error("a job failed for good but cannot be kept among the dead: it stays in the queue",
			"delivery", job.ID, "reason", reason, "error", report.Redact(err.Error()))
		_ = message.NakWithDelay(time.Minute)
		return
	}
	_ = message.Term()
	q.metrics.failed(job.Kind, "dead")
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
