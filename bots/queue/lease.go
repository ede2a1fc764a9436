package queue

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// errHeld says that another worker, here or in another replica, is at it.
var errHeld = errors.New("held by another worker")

// Patience is how long what a killed process had begun elsewhere may still go on there.
func (s *Store) Patience() time.Duration { return 2 * s.lease }

// takeLease takes the lease of a key. It is renewed, and beat called, until release; when it is lost, the returned context ends, so that
// no two workers are at the same thing for long. The lease of a killed process ends by itself.
func (s *Store) takeLease(ctx context.Context, key string, beat func()) (held context.Context, release func(), err error) {
	name := token(key)
	revision, err := s.leases.Create(ctx, name, nil)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil, nil, errHeld
	}
	if err != nil {
		return nil, nil, err
	}
	held, cancel := context.WithCancel(ctx)
	done := make(chan uint64)
	go func() {
		defer close(done)
		tick := time.NewTicker(s.lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-held.Done():
				done <- revision
				return
			case <-tick.C:
				beat()
				next, err := s.leases.Update(held, name, nil, revision)
				if err != nil && held.Err() == nil {
					s.log.Warn("lost the lease of a job", "error", err)
					cancel()
				} else if err == nil {
					revision = next
				}
			}
		}
	}()
	return held, func() {
		cancel()
		last := <-done
		_ = s.leases.Delete(context.WithoutCancel(ctx), name, jetstream.LastRevision(last))
	}, nil
}

// Alone runs f unless somebody else, here or in another replica, runs something under the same name just now.
func (s *Store) Alone(ctx context.Context, name string, f func(ctx context.Context) error) error {
	held, release, err := s.takeLease(ctx, "alone:"+name, func() {})
	if errors.Is(err, errHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	return f(held)
}
