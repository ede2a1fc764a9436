package queue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// embedded is the NATS server inside this process. With a cluster it is empty.
type embedded struct {
	dir    string
	unlock func()
	space  *space // nil with a cluster
	damage damage
	server atomic.Pointer[server.Server] // another one each time that the store is opened again
	failed atomic.Bool                   // a write failed, so that JetStream takes none any more
	shuts  atomic.Bool                   // it is being opened again
}

const (
	noReservation = 1 << 60
	leaseMemory   = 256 << 20
	reconnectWait = 50 * time.Millisecond
	readyTime     = 30 * time.Second
)

// InProcessConn connects to the server that runs now. The client calls it again when a connection has ended.
func (e *embedded) InProcessConn() (net.Conn, error) {
	if running := e.server.Load(); running != nil {
		return running.InProcessConn()
	}
	return nil, errors.New("the embedded NATS server is being opened")
}

// embed takes a folder and starts a NATS server in it. One folder belongs to one process: a second one would corrupt it.
func (s *Store) embed(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("TRIAGE_DATA: %w", err)
	}
	unlock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return fmt.Errorf("TRIAGE_DATA %s is in use by another triage (several replicas share a NATS cluster, NATS_URL, not a folder): %w", dir, err)
	}
	s.unlock, s.dir = unlock, dir
	s.space = newSpace(dir, s.log)
	return s.start()
}

// start puts damaged files aside and starts the server.
func (s *Store) start() error {
	if err := s.putAside(); err != nil {
		return err
	}
	// JetStream would set the most that streams may have aside from what is free at the start, and refuse to open them where that is not
	// enough, with jobs that wait in them. They are bounded themselves, so it is told that there is room.
	fresh, err := server.NewServer(&server.Options{
		ServerName: "triage", DontListen: true, NoSigs: true, NoLog: true, MaxPayload: 2 << 20,
		JetStream: true, StoreDir: s.dir, JetStreamMaxStore: noReservation, JetStreamMaxMemory: leaseMemory, SyncAlways: true,
	})
	if err != nil {
		return fmt.Errorf("embedded NATS server: %w", err)
	}
	fresh.SetLogger(serverLog{s.log, s.fail}, false, false)
	fresh.Start()
	s.server.Store(fresh)
	if !fresh.ReadyForConnections(readyTime) {
		return errors.New("embedded NATS server did not become ready within 30 s: is the disk of TRIAGE_DATA writable?")
	}
	return nil
}

// shut ends the server. Its files can be read and moved then.
func (e *embedded) shut() {
	if running := e.server.Swap(nil); running != nil {
		running.Shutdown()
		running.WaitForShutdown()
	}
}

// release ends the server and gives the folder free.
func (e *embedded) release() {
	e.shut()
	if e.unlock != nil {
		e.unlock()
	}
}

// Writable returns an ErrUnwritable while nothing new can be stored: the disk is full, or a write to it failed.
func (s *Store) Writable() error {
	if s.space == nil {
		return nil
	}
	if err := s.space.look(); err != nil {
		return err
	}
	if s.failed.Load() || s.shuts.Load() {
		return errFailed
	}
	return nil
}

// fail notes that a write of the server failed.
func (s *Store) fail() {
	s.failed.Store(true)
	s.commits.abandon()
}

// How often the store is opened again after writes that failed: at once, and then less and less often.
const (
	reopenLook  = 200 * time.Millisecond
	reopenLeast = time.Second
	reopenMost  = time.Minute
)

// mend opens the store again after a write that failed, as soon as there is room. JetStream itself stays shut after such a write.
func (s *Store) mend(ctx context.Context) {
	tick := time.NewTicker(reopenLook)
	defer tick.Stop()
	var last time.Time
	pause := reopenLeast
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !s.failed.Load() || s.space.look() != nil || time.Since(last) < pause {
			continue
		}
		pause = min(2*pause, reopenMost)
		if time.Since(last) > 2*reopenMost {
			pause = reopenLeast
		}
		last = time.Now()
		if err := s.reopen(ctx); err != nil {
			s.fail()
			s.log.Error("the store could not be opened again", "error", err)
			continue
		}
		s.log.Warn("the store was opened again")
	}
}

// reopen lets JetStream read its files anew. What was acknowledged is in them.
func (s *Store) reopen(ctx context.Context) error {
	s.shuts.Store(true)
	defer s.shuts.Store(false)
	s.shut()
	s.failed.Store(false)
	if err := s.start(); err != nil {
		return err
	}
	// The client may not know yet that its connection has ended. The new server answers only on a new one.
	for deadline := time.Now().Add(readyTime); s.conn.FlushTimeout(time.Second) != nil; time.Sleep(reconnectWait) {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return errors.New("no connection to the embedded NATS server")
		}
	}
	if _, err := s.create(ctx); err != nil {
		return err
	}
	return s.restore(ctx)
}
