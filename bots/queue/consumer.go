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

// consumer returns the consumer of a kind, and makes it anew when its files are damaged.
func (q *Queue) consumer(ctx context.Context, kind string) (jetstream.Consumer, error) {
	made, err := q.makeConsumer(ctx, kind)
	if err != nil && q.store.server != nil {
		if known, missing := q.store.jobs.Consumer(ctx, kind); missing == nil { // a full disk takes no update
			return known, nil
		}
		q.store.putConsumerAside(filepath.Join(q.store.consumersDir(), kind), err)
		made, err = q.makeConsumer(ctx, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("consume %s jobs: %w", kind, err)
	}
	return made, nil
}

func (q *Queue) makeConsumer(ctx context.Context, kind string) (jetstream.Consumer, error) {
	return q.store.jobs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: kind, FilterSubject: jobSubjects + kind + ".>", AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: q.store.lease, MaxAckPending: 10_000, MaxDeliver: -1,
	})
}

// soundConsumer is consumer before anything is handed out: one that would not hand out all that waits is made anew.
func (q *Queue) soundConsumer(ctx context.Context, kind string) (jetstream.Consumer, error) {
	filter := jobSubjects + kind + ".>"
	waiting := uint64(0)
	if info, err := q.store.jobs.Info(ctx, jetstream.WithSubjectFilter(filter)); err == nil && q.store.server != nil {
		for _, count := range info.State.Subjects {
			waiting += count
		}
	}
	made, err := q.consumer(ctx, kind)
	if err != nil {
		return nil, err
	}
	info, err := made.Info(ctx)
	if err != nil || info.NumPending+uint64(info.NumAckPending) >= waiting {
		return made, nil //nolint:nilerr // the consumer is there; work shows whether it is good
	}
	q.log.Error("the account of what was handed out misses jobs, as after damage to its file: all that waits is handed out again",
		"kind", kind, "waiting", waiting, "known", info.NumPending+uint64(info.NumAckPending))
	q.store.damage.files.Add(1)
	if err := q.store.jobs.DeleteConsumer(ctx, kind); err != nil {
		return nil, fmt.Errorf("delete the consumer of %s jobs: %w", kind, err)
	}
	return q.consumer(ctx, kind)
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
