package queue

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// committer stores messages so that those that arrive while the disk is busy share the next write: a disk syncs some hundred times a
// second, and webhooks may come faster.
type committer struct {
	store   *Store
	pending chan commit
	abort   atomic.Pointer[context.CancelFunc] // ends the wait for the write that is being made
}

type commit struct {
	message *nats.Msg
	done    chan<- result
}

type result struct {
	duplicate bool
	err       error
}

const (
	maxCommit      = 200     // messages of one write
	maxCommitBytes = 8 << 20 // and their bytes
	commitTime     = 5 * time.Second
)

func newCommitter(s *Store) *committer {
	return &committer{store: s, pending: make(chan commit, maxCommit)}
}

// put stores a message and waits until it is on disk.
func (c *committer) put(ctx context.Context, message *nats.Msg) (duplicate bool, err error) {
	done := make(chan result, 1)
	select {
	case c.pending <- commit{message, done}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	select {
	case r := <-done:
		return r.duplicate, r.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// run writes until the context ends.
func (c *committer) run(ctx context.Context) {
	for {
		var group []commit
		select {
		case <-ctx.Done():
			return
		case first := <-c.pending:
			group = append(group, first)
		}
		for size := len(group[0].message.Data); len(group) < maxCommit && size < maxCommitBytes; {
			select {
			case more := <-c.pending:
				group = append(group, more)
				size += len(more.message.Data)
				continue
			default:
			}
			break
		}
		c.write(ctx, group)
	}
}

// write stores a group at once, or, when the server does not take it so (an old one, a duplicate among them, a full stream), one by
// one.
func (c *committer) write(ctx context.Context, group []commit) {
	ctx, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	c.abort.Store(&cancel)
	if len(group) > 1 && c.store.batches() && c.batch(ctx, group) == nil {
		for _, one := range group {
			one.done <- result{}
		}
		return
	}
	acks := make([]jetstream.PubAckFuture, len(group))
	for i, one := range group {
		for _, name := range []string{"Nats-Batch-Id", "Nats-Batch-Sequence", "Nats-Batch-Commit"} {
			one.message.Header.Del(name)
		}
		one.message.Reply = ""
		ack, err := c.store.js.PublishMsgAsync(one.message)
		if err != nil {
			one.done <- result{err: err}
			continue
		}
		acks[i] = ack
	}
	for i, ack := range acks {
		if ack == nil {
			continue
		}
		select {
		case ok := <-ack.Ok():
			group[i].done <- result{duplicate: ok.Duplicate}
		case err := <-ack.Err():
			group[i].done <- result{err: err}
		case <-ctx.Done():
			group[i].done <- result{err: ctx.Err()}
		}
	}
}

// abandon ends the wait for the write that is being made: JetStream does not answer when its own write failed.
func (c *committer) abandon() {
	if cancel := c.abort.Load(); cancel != nil {
		(*cancel)()
	}
}

// batch stores a group as one atomic batch of JetStream, with one write to the disk.
func (c *committer) batch(ctx context.Context, group []commit) error {
	id := nuid.Next()
	for i, one := range group {
		one.message.Header.Set("Nats-Batch-Id", id)
		one.message.Header.Set("Nats-Batch-Sequence", strconv.Itoa(i+1))
		if i < len(group)-1 {
			if err := c.store.conn.PublishMsg(one.message); err != nil {
				return err
			}
			continue
		}
		one.message.Header.Set("Nats-Batch-Commit", "1")
		response, err := c.store.conn.RequestMsgWithContext(ctx, one.message)
		if err != nil {
			return err
		}
		var ack struct {
			Error *jetstream.APIError `json:"error"`
			Batch string              `json:"batch"`
			Count int                 `json:"count"`
		}
		if err := json.Unmarshal(response.Data, &ack); err != nil {
			return err
		}
		if ack.Error != nil {
			return ack.Error
		}
		if ack.Batch != id || ack.Count != len(group) {
			return errors.New("the server does not know batches")
		}
	}
	return nil
}
