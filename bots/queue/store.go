// Package queue keeps what must survive a kill: the jobs between "received" and "answered", small states, documents that people were
// given a link to, and leases by which replicas share work. A Queue hands each job to a handler until it is done or given up.
//
// Everything lives in NATS JetStream, embedded in this process by default, or in the cluster that several replicas share. Durability,
// redelivery, deduplication and expiry are JetStream's. By hand is what it lacks: one worker for a key at a time, retries that an
// error's kind decides, a place for jobs that were given up, and one write to the disk for many messages.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options say where the store is and how patient it is.
type Options struct {
	Dir      string        // folder of the embedded server; unused when URL is set
	URL      string        // an existing NATS cluster with JetStream; "" embeds a server that listens nowhere
	Replicas int           // of each stream in a cluster; 0 is 1
	Bytes    int64         // that waiting jobs may have, and kept documents as well; 0 is 1 GiB
	Lease    time.Duration // after this much silence the work of a killed process is taken over; at least 500 ms
	Log      *slog.Logger
}

// Store keeps jobs, documents and small states. Every write is on disk when it returns (with an embedded server), so that neither a
// kill nor a power cut loses what was acknowledged.
type Store struct {
	lease  time.Duration
	bytes  int64
	copies int
	log    *slog.Logger
	embedded
	conn    *nats.Conn
	js      jetstream.JetStream
	commits *committer
	stop    context.CancelFunc
	mending sync.WaitGroup
	handles
}

// handles are what is in the store. They name it, so that they stay good when it is opened again.
type handles struct {
	jobs   jetstream.Stream
	dead   jetstream.Stream
	state  jetstream.KeyValue
	kept   jetstream.KeyValue
	leases jetstream.KeyValue
	vault  jetstream.KeyValue
}

// MaxBytes is the most that one job or document may have: less than the 1 MiB that a NATS server accepts by default.
const MaxBytes = 900 << 10

// Names in JetStream, and how much and how long they keep.
const (
	jobStream   = "TRIAGE_JOBS"
	deadStream  = "TRIAGE_DEAD"
	stateBucket = "TRIAGE_STATE"
	keptBucket  = "TRIAGE_REPORTS"
	leaseBucket = "TRIAGE_LEASES"
	vaultBucket = "TRIAGE_SECRETS"

	maxJobs       = 200_000 // waiting; beyond that a request is refused, not forgotten
	standardBytes = 1 << 30
	dedupeWindow  = 20 * time.Minute // the same delivery again within this time is dropped by the stream itself
	keepStates    = 30 * 24 * time.Hour
	keepDocuments = 30 * 24 * time.Hour
	keepDead      = 90 * 24 * time.Hour
)

// Open opens the store, creating what is not there. The error says what to do.
func Open(ctx context.Context, options Options) (*Store, error) {
	s := &Store{lease: max(options.Lease, 500*time.Millisecond), bytes: cmp.Or(options.Bytes, standardBytes), copies: max(options.Replicas, 1), log: options.Log}
	s.commits = newCommitter(s)
	var commits context.Context
	commits, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	err := s.connect(ctx, options)
	if err == nil {
		s.handles, err = s.create(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	if s.space != nil {
		if err := s.restore(ctx); err != nil {
			s.log.Error("what can be read of damaged files is not stored anew yet", "error", err)
			s.fail() // so that it is tried again
		}
	}
	go s.commits.run(commits)
	if s.space != nil {
		s.mending.Go(func() { s.mend(commits) })
	}
	return s, nil
}

func (s *Store) connect(ctx context.Context, options Options) error {
	dial := []nats.Option{nats.Name("triage"), nats.MaxReconnects(-1), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		s.log.Warn("the connection to NATS", "error", err)
	})}
	url := options.URL
	if url == "" {
		if err := s.embed(options.Dir); err != nil {
			return err
		}
		dial = append(dial, nats.InProcessServer(&s.embedded), nats.ReconnectWait(reconnectWait), nats.ReconnectBufSize(-1))
	}
	conn, err := s.dial(ctx, url, dial)
	if err != nil {
		return fmt.Errorf("connect to NATS: %w (is NATS_URL right and the cluster up?)", err)
	}
	s.conn = conn
	s.js, err = jetstream.New(conn)
	return err
}

// How long a cluster may take to be there, and how often it is tried: it is often started together with triage.
const (
	dialWithin = 15 * time.Second
	dialAgain  = 500 * time.Millisecond
)

// dial connects to the cluster, waiting for it to come up. The error is the last try's.
func (s *Store) dial(ctx context.Context, url string, options []nats.Option) (*nats.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	for {
		conn, err := nats.Connect(url, options...)
		if !errors.Is(err, nats.ErrNoServers) {
			return conn, err
		}
		s.log.Info("waiting for NATS", "error", err)
		select {
		case <-time.After(dialAgain):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// create creates what is not there.
func (s *Store) create(ctx context.Context) (h handles, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := s.awaitLeader(ctx); err != nil {
		return h, err
	}
	// A job waits under the subject of what it is about, one message for each: a later job replaces the one that still waits.
	h.jobs, err = s.stream(ctx, jetstream.StreamConfig{
		Name: jobStream, Subjects: []string{jobSubjects + ">"}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, MaxMsgsPerSubject: 1, MaxMsgs: maxJobs, MaxBytes: s.bytes,
		Duplicates: dedupeWindow, AllowAtomicPublish: s.batches(), Replicas: s.copies, Description: "what triage was asked and has not answered yet",
	})
	if err != nil {
		return h, err
	}
	h.dead, err = s.stream(ctx, jetstream.StreamConfig{
		Name: deadStream, Subjects: []string{deadSubjects + ">"}, MaxAge: keepDead, MaxMsgs: 10_000, Discard: jetstream.DiscardOld,
		Replicas:    s.copies,
		Description: "what triage gave up on, with the reason",
	})
	if err != nil {
		return h, err
	}
	h.state, err = s.bucket(ctx, jetstream.KeyValueConfig{Bucket: stateBucket, TTL: keepStates})
	if err != nil {
		return h, err
	}
	h.kept, err = s.bucket(ctx, jetstream.KeyValueConfig{Bucket: keptBucket, TTL: keepDocuments, MaxBytes: s.bytes, Compression: true})
	if err != nil {
		return h, err
	}
	if err := s.forgetOldest(ctx, "KV_"+keptBucket); err != nil {
		return h, err
	}
	h.vault, err = s.bucket(ctx, jetstream.KeyValueConfig{Bucket: vaultBucket})
	if err != nil {
		return h, err
	}
	h.leases, err = s.bucket(ctx, jetstream.KeyValueConfig{Bucket: leaseBucket, TTL: s.lease, Storage: jetstream.MemoryStorage})
	return h, err
}

// awaitLeader waits until JetStream answers: what a cluster is asked before its nodes have found one another gets no answer at all.
func (s *Store) awaitLeader(ctx context.Context) error {
	if _, err := patiently(ctx, s.js.AccountInfo); err != nil {
		return fmt.Errorf("JetStream does not answer: %w (has the NATS cluster a majority of its nodes, and is JetStream on?)", err)
	}
	return nil
}

// noPeers is what a cluster answers whose nodes have a leader and do not all know of one another yet: no suitable peers for placement.
const noPeers = 10005

// patiently asks again what got no answer: a node of a cluster that has just come back does not pass on all that it is asked.
func patiently[T any](ctx context.Context, ask func(context.Context) (T, error)) (answer T, err error) {
	for {
		patience, cancel := context.WithTimeout(ctx, 3*time.Second)
		answer, err = ask(patience)
		cancel()
		refused, _ := errors.AsType[*jetstream.APIError](err)
		leaderless := refused != nil && (refused.Code == http.StatusServiceUnavailable || refused.ErrorCode == noPeers)
		silent := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrTimeout)
		if !silent && !leaderless || ctx.Err() != nil {
			return answer, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// stream creates or updates a stream. One that is there and cannot be updated, as on a full disk, stays as it is.
func (s *Store) stream(ctx context.Context, config jetstream.StreamConfig) (jetstream.Stream, error) {
	made, err := patiently(ctx, func(ctx context.Context) (jetstream.Stream, error) { return s.js.CreateOrUpdateStream(ctx, config) })
	if err == nil {
		return made, nil
	}
	if known, missing := s.js.Stream(ctx, config.Name); missing == nil {
		s.log.Warn("a stream keeps its old settings", "stream", config.Name, "error", err)
		return known, nil
	}
	return nil, fmt.Errorf("create stream %s: %w", config.Name, err)
}

// bucket is stream for a bucket.
func (s *Store) bucket(ctx context.Context, config jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	config.Replicas = s.copies
	made, err := patiently(ctx, func(ctx context.Context) (jetstream.KeyValue, error) { return s.js.CreateOrUpdateKeyValue(ctx, config) })
	if err == nil {
		return made, nil
	}
	if known, missing := s.js.KeyValue(ctx, config.Bucket); missing == nil {
		s.log.Warn("a bucket keeps its old settings", "bucket", config.Bucket, "error", err)
		return known, nil
	}
	return nil, fmt.Errorf("create bucket %s: %w", config.Bucket, err)
}

// forgetOldest lets a full bucket drop its oldest documents, where buckets otherwise refuse new ones.
func (s *Store) forgetOldest(ctx context.Context, stream string) error {
	opened, err := s.js.Stream(ctx, stream)
	if err != nil {
		return fmt.Errorf("open stream %s: %w", stream, err)
	}
	config := opened.CachedInfo().Config
	config.Discard = jetstream.DiscardOld
	_, err = s.stream(ctx, config)
	return err
}

// batches tells whether the server knows atomic batches, which NATS 2.12 brought.
func (s *Store) batches() bool {
	parts := strings.SplitN(s.conn.ConnectedServerVersion(), ".", 3)
	if len(parts) < 3 {
		return false
	}
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	return major > 2 || major == 2 && minor >= 12
}

// Close lets go of the store. Jobs that still wait are done by whoever opens it next.
func (s *Store) Close() {
	s.stop()
	s.mending.Wait()
	if s.conn != nil {
		s.conn.Close()
	}
	s.release()
}

// Ready returns an error when the store cannot be reached, cannot write, or has no room for one more job, just now.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.Writable(); err != nil {
		return err
	}
	info, err := s.jobs.Info(ctx)
	if err != nil {
		return err
	}
	if err := fits(info); err != nil {
		return err
	}
	return s.Save(ctx, "ready:", time.Now().UTC())
}

// fits tells whether one more job, of whatever size, may wait.
func fits(info *jetstream.StreamInfo) error {
	if info.State.Msgs >= uint64(info.Config.MaxMsgs) || info.State.Bytes+MaxBytes > uint64(info.Config.MaxBytes) {
		return ErrFull
	}
	return nil
}
