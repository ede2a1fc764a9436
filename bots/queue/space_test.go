package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpu-triage/triage/bots/endtoend/smalldisk"
)

// A disk that says that it has room and then takes no byte, as one with a quota does, breaks JetStream. Once there is room it works again in
// the same process, and what was acknowledged is done.
func TestWriteThatFailed(t *testing.T) {
	dir := smalldisk.New(t, 16)
	var log lockedBuffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	s, err := Open(t.Context(), Options{Dir: dir, Lease: 500 * time.Millisecond, Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.space.spare = 0 // what the disk says is not asked
	q := New(s, prometheus.NewRegistry(), logger, 3)
	acknowledged := 0
	add := func() error {
		soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		acknowledged++
		id := fmt.Sprint(acknowledged)
		err := q.Add(soon, Job{ID: id, Kind: "test", Key: id, Data: []byte(`"` + strings.Repeat("x", 8000) + `"`)})
		if err != nil {
			acknowledged--
		}
		return err
	}
	for range 20 {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	free := smalldisk.Fill(t, dir)
	refused := 0
	for range 10 {
		if add() != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("on a full disk none is refused")
	}
	free()
	for deadline := time.Now().Add(20 * time.Second); s.Ready(t.Context()) != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not ready again: %v\n%s", s.Ready(t.Context()), log.String())
		}
	}
	if err := add(); err != nil {
		t.Errorf("after there is room: %v\n%s", err, log.String())
	}
	var did atomic.Int32
	work(t, q, 4, func(context.Context, Job) error { did.Add(1); return nil }, func() bool { return int(did.Load()) >= acknowledged })
}

// A disk that others filled while nothing ran lets a store open all the same, with jobs that wait.
func TestOpenOnFullDisk(t *testing.T) {
	dir := smalldisk.New(t, 16)
	s, q, _ := open(t, dir, 3)
	if err := q.Add(t.Context(), Job{ID: "1", Kind: "test", Key: "1"}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	free := smalldisk.Fill(t, dir)
	s, q, _ = open(t, dir, 3)
	if err := s.Ready(t.Context()); !errors.Is(err, ErrUnwritable) {
		t.Errorf("on a full disk: %v", err)
	}
	if err := q.Add(t.Context(), Job{ID: "2", Kind: "test", Key: "2"}); !errors.Is(err, ErrUnwritable) {
		t.Errorf("a job on a full disk: %v", err)
	}
	free()
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("with room: %v", err)
	}
	var did atomic.Bool
	work(t, q, 1, func(context.Context, Job) error { did.Store(true); return nil }, did.Load)
}
