// Package bots is what the Slack bot, the GitHub bot and the HTTP interface share: a durable queue between "received" and
// "answered", a small memory that survives a kill, stored reports, metrics, and the HTTP server itself.
//
// Everything durable lives in NATS JetStream: embedded in this process by default, or the cluster that several replicas share.
package bots

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// StoreOptions says where the store is and how patient it is.
type StoreOptions struct {
	Dir      string        // folder of the embedded server; unused when URL is set
	URL      string        // an existing NATS cluster with JetStream; "" embeds a server that listens nowhere
	Replicas int           // of each stream in a cluster; 0 is 1
	Lease    time.Duration // after this much silence the work of a killed process is taken over; at least 500 ms
	Log      *slog.Logger
}

// Store keeps jobs, reports and small states. Every write is on disk when it returns (with an embedded server), so that neither a
// kill nor a power cut loses what was acknowledged.
type Store struct {
	lease   time.Duration
	copies  int
	log     *slog.Logger
	server  *server.Server // nil with a cluster
	unlock  func()
	conn    *nats.Conn
	js      jetstream.JetStream
	commits *committer
	stop    context.CancelFunc
	jobs    jetstream.Stream
	dead    jetstream.Stream
	state   jetstream.KeyValue
	reports jetstream.KeyValue
	leases  jetstream.KeyValue
}

// Names in JetStream, and how much and how long they keep.
const (
	jobStream    = "TRIAGE_JOBS"
	deadStream   = "TRIAGE_DEAD"
	stateBucket  = "TRIAGE_STATE"
	reportBucket = "TRIAGE_REPORTS"
	leaseBucket  = "TRIAGE_LEASES"

	maxJobs      = 200_000          // waiting; beyond that a request is refused, not forgotten
	maxJobBytes  = 8 << 30          // waiting
	maxJob       = 900 << 10        // bytes of one job: below the 1 MiB that a NATS server accepts by default
	dedupeWindow = 20 * time.Minute // the same delivery again within this time is dropped by the stream itself
	keepStates   = 30 * 24 * time.Hour
	keepReports  = 30 * 24 * time.Hour
	keepDead     = 90 * 24 * time.Hour
)

// OpenStore opens the store, creating what is not there. The error says what to do.
func OpenStore(ctx context.Context, options StoreOptions) (*Store, error) {
	s := &Store{lease: max(options.Lease, 500*time.Millisecond), copies: max(options.Replicas, 1), log: options.Log, unlock: func() {}}
	s.commits = newCommitter(s)
	var commits context.Context
	commits, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	err := s.connect(options)
	if err == nil {
		err = s.create(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	go s.commits.run(commits)
	return s, nil
}

func (s *Store) connect(options StoreOptions) error {
	dial := []nats.Option{nats.Name("triage"), nats.MaxReconnects(-1)}
	url := options.URL
	if url == "" {
		if err := s.embed(options.Dir); err != nil {
			return err
		}
		dial = append(dial, nats.InProcessServer(s.server))
	}
	conn, err := nats.Connect(url, dial...)
	if err != nil {
		return fmt.Errorf("connect to NATS: %w (is NATS_URL right and the cluster up?)", err)
	}
	s.conn = conn
	s.js, err = jetstream.New(conn)
	return err
}

// embed starts a NATS server inside this process. One folder belongs to one process: a second one would corrupt it.
func (s *Store) embed(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("TRIAGE_DATA: %w", err)
	}
	unlock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return fmt.Errorf("TRIAGE_DATA %s is in use by another triage (several replicas share a NATS cluster, NATS_URL, not a folder): %w", dir, err)
	}
	s.unlock = unlock
	s.server, err = server.NewServer(&server.Options{
		ServerName: "triage", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: dir, SyncAlways: true, MaxPayload: 2 << 20,
	})
	if err != nil {
		return fmt.Errorf("embedded NATS server: %w", err)
	}
	s.server.Start()
	if !s.server.ReadyForConnections(30 * time.Second) {
		return errors.New("embedded NATS server did not become ready within 30 s: is the disk of TRIAGE_DATA writable?")
	}
	return nil
}

func (s *Store) create(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	// A job waits under the subject of what it is about, one message for each: a later job replaces the one that still waits.
	s.jobs, err = s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: jobStream, Subjects: []string{jobSubjects + ">"}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, MaxMsgsPerSubject: 1, MaxMsgs: maxJobs, MaxBytes: maxJobBytes,
		Duplicates: dedupeWindow, AllowAtomicPublish: s.batches(), Replicas: s.copies, Description: "what triage was asked and has not answered yet",
	})
	if err != nil {
		return fmt.Errorf("create stream %s: %w", jobStream, err)
	}
	s.dead, err = s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: deadStream, Subjects: []string{deadSubjects + ">"}, MaxAge: keepDead, MaxMsgs: 10_000, Discard: jetstream.DiscardOld,
		Replicas:    s.copies,
		Description: "what triage gave up on, with the reason",
	})
	if err != nil {
		return fmt.Errorf("create stream %s: %w", deadStream, err)
	}
	buckets := []struct {
		to     *jetstream.KeyValue
		config jetstream.KeyValueConfig
	}{
		{&s.state, jetstream.KeyValueConfig{Bucket: stateBucket, TTL: keepStates}},
		{&s.reports, jetstream.KeyValueConfig{Bucket: reportBucket, TTL: keepReports, Compression: true}},
		{&s.leases, jetstream.KeyValueConfig{Bucket: leaseBucket, TTL: s.lease, Storage: jetstream.MemoryStorage}},
	}
	for _, b := range buckets {
		b.config.Replicas = s.copies
		if *b.to, err = s.js.CreateOrUpdateKeyValue(ctx, b.config); err != nil {
			return fmt.Errorf("create bucket %s: %w", b.config.Bucket, err)
		}
	}
	return nil
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
	if s.conn != nil {
		s.conn.Close()
	}
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	s.unlock()
}

// Ready returns an error when the store cannot be reached just now.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.jobs.Info(ctx)
	return err
}

// Load reads the state kept under a key into v and tells whether there was one.
func (s *Store) Load(ctx context.Context, key string, v any) (bool, error) {
	entry, err := s.state.Get(ctx, stateKey(key))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("load state: %w", err)
	}
	return true, json.Unmarshal(entry.Value(), v)
}

// Save keeps a state for 30 days.
func (s *Store) Save(ctx context.Context, key string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := s.state.Put(ctx, stateKey(key), data); err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}

// First tells whether nobody kept this key before, and keeps it: of many callers, one is first.
func (s *Store) First(ctx context.Context, key string) (bool, error) {
	_, err := s.state.Create(ctx, stateKey(key), []byte("true"))
	if errors.Is(err, jetstream.ErrKeyExists) {
		return false, nil
	}
	return err == nil, err
}

// Each calls f with every state whose key begins with a class ("issue:"), until f returns false.
func (s *Store) Each(ctx context.Context, class string, f func(data []byte) bool) error {
	keys, err := s.state.ListKeysFiltered(ctx, class+".*")
	if err != nil {
		return err
	}
	defer func() { _ = keys.Stop() }() // it fails when the keys have all come
	for key := range keys.Keys() {
		entry, err := s.state.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if !f(entry.Value()) {
			return nil
		}
	}
	return nil
}

// stateKey keeps a key's class, the word before its first colon, readable.
func stateKey(key string) string {
	class, _, _ := strings.Cut(key, ":")
	return class + "." + token(key)
}

// token makes a NATS subject token of any text.
func token(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:20])
}
