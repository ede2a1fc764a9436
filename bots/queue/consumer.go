package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A consumer is JetStream's account of which jobs of a kind were handed out. It can be made anew at any time: then every job that waits is
// handed out again.

func (q *Queue) makeConsumer(ctx context.Context, kind string) (jetstream.Consumer, error) {
	return q.store.jobs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: kind, FilterSubject: jobSubjects + kind + ".>", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: q.store.lease, MaxAckPending: 10_000, MaxDeliver: -1,
	})
}

// soundConsumer returns the consumer of a kind before anything is handed out. It is made anew when its files are damaged, or when it would
// not hand out all that waits.
func (q *Queue) soundConsumer(ctx context.Context, kind string) (jetstream.Consumer, error) {
	waiting := 0
	if q.store.space != nil {
		waiting = q.waiting(ctx, kind)
	}
	made, err := q.makeConsumer(ctx, kind)
	if refused := (&jetstream.APIError{}); errors.As(err, &refused) && q.store.space != nil {
		if known, missing := q.store.jobs.Consumer(ctx, kind); missing == nil {
			return known, nil // a full disk takes no update
		}
		q.store.putConsumerAside(filepath.Join(q.store.consumersDir(), kind), err)
		made, err = q.makeConsumer(ctx, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("consume %s jobs: %w", kind, err)
	}
	info, err := made.Info(ctx)
	if err != nil || int(info.NumPending)+info.NumAckPending >= waiting {
		return made, nil //nolint:nilerr // the consumer is there; work shows whether it is good
	}
	q.log.Error("the account of what was handed out misses jobs, as after damage to its file: all that waits is handed out again",
		"kind", kind, "waiting", waiting, "known", int(info.NumPending)+info.NumAckPending)
	q.store.damage.files.Add(1)
	if err := q.store.jobs.DeleteConsumer(ctx, kind); err != nil {
		return nil, fmt.Errorf("delete the consumer of %s jobs: %w", kind, err)
	}
	return q.makeConsumer(ctx, kind)
}

// How often audit looks, and how often it has the files looked at at most.
const (
	auditEvery = 30 * time.Second
	audits     = 3
)

// audit looks from time to time whether jobs wait that are not handed out, although there are idle workers: JetStream leaves jobs out that
// it cannot read, without a word. Then the store is opened again, which finds what is damaged.
func (q *Queue) audit(ctx context.Context, kind string, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	found, before := 0, stuck{}
	for q.store.space != nil && found < audits {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := q.stuck(ctx, kind)
		if now.jobs > 0 && before.jobs > 0 && now.handedOut == before.handedOut {
			q.log.Error("jobs wait that the store does not hand out: its files are checked", "kind", kind, "jobs", now.jobs)
			q.store.fail()
			found++
		}
		before = now
	}
}

// stuck is how many jobs wait while nothing is handed out and workers are idle, and how many were handed out before.
type stuck struct {
	jobs      int
	handedOut uint64
}

func (q *Queue) stuck(ctx context.Context, kind string) stuck {
	known, err := q.store.jobs.Consumer(ctx, kind)
	if err != nil {
		return stuck{}
	}
	info := known.CachedInfo()
	if info.NumAckPending > 0 || info.NumWaiting == 0 {
		return stuck{}
	}
	return stuck{q.waiting(ctx, kind), info.Delivered.Consumer}
}

// waiting is how many jobs of a kind are stored.
func (q *Queue) waiting(ctx context.Context, kind string) (count int) {
	info, err := q.store.jobs.Info(ctx, jetstream.WithSubjectFilter(jobSubjects+kind+".>"))
	if err != nil {
		return 0
	}
	for _, n := range info.State.Subjects {
		count += int(n)
	}
	return count
}

func (s *Store) consumersDir() string { return filepath.Join(s.streamDir(jobStream), "obs") }

// putConsumersAside moves the files of consumers away that JetStream could not read, or that would take all memory.
func (s *Store) putConsumersAside() {
	folders, _ := os.ReadDir(s.consumersDir()) // there are none yet
	for _, folder := range folders {
		dir := filepath.Join(s.consumersDir(), folder.Name())
		if state, err := os.ReadFile(filepath.Join(dir, "o.dat")); err == nil && !soundState(state) {
			s.putConsumerAside(dir, errors.New("o.dat cannot be read"))
		}
	}
}

func (s *Store) putConsumerAside(dir string, cause error) {
	to := filepath.Join(s.dir, aside, "consumer-"+filepath.Base(dir)+"-"+time.Now().UTC().Format(asideTime))
	err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(dir, to))
	if errors.Is(err, os.ErrNotExist) {
		return // not the files, then
	}
	s.damage.files.Add(1)
	s.log.Error("the account of what was handed out cannot be read: all that waits is handed out again", "file", dir, "cause", cause, "kept", to,
		"do", "look whether the disk fails; if this comes again, stop triage, delete the folder that file names, and start it", "moved", err == nil)
}

// soundState tells whether the file of a consumer can be read, in the format of server/filestore.go of nats-server v2.15.2: numbers, and
// two lists with their lengths before them.
func soundState(file []byte) bool {
	const magic, head = 22, 2
	if len(file) == 0 {
		return true // JetStream takes it for a new one
	}
	if len(file) < head || file[0] != magic || file[1] < 1 || file[1] > 2 {
		return false
	}
	rest, sound := file[head:], true
	number := func() uint64 {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			sound = false
			return 0
		}
		rest = rest[size:]
		return n
	}
	list := func(numbers int, before int) {
		length := number()
		if length == 0 {
			return
		}
		if length > uint64(len(rest)) {
			sound = false
		}
		for range before {
			number()
		}
		for range int(length) * numbers {
			if !sound {
				return
			}
			number()
		}
	}
	for range 4 { // what is done and what is handed out
		number()
	}
	list(int(file[1])+1, 1) // of what is handed out: two numbers in version 1, three in version 2, after a time
	list(2, 0)              // of what was handed out again
	return sound
}
