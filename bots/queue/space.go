package queue

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
)

// space watches the room on the disk of an embedded store. A file beside the store keeps a part of the disk spare. When the disk
// is full, whoever filled it, the file makes way, so that what has begun can end and a start works; nothing new is taken until there is
// room for the file again.
type space struct {
	file  string
	spare int64 // bytes
	log   *slog.Logger

	mu   sync.Mutex
	full bool
}

// ErrUnwritable says that the store takes nothing new for now.
var ErrUnwritable = errors.New("nothing can be stored just now")

var (
	errFull   = fmt.Errorf("the disk of TRIAGE_DATA is full: %w", ErrUnwritable)
	errFailed = fmt.Errorf("a write to TRIAGE_DATA failed: %w", ErrUnwritable)
)

const (
	leastSpare = 256 << 10
	mostSpare  = 16 << 20
)

// newSpace begins to watch the disk of a folder.
func newSpace(dir string, log *slog.Logger) *space {
	s := &space{file: filepath.Join(dir, "spare"), log: log, spare: mostSpare}
	if _, total, err := diskRoom(dir); err == nil {
		s.spare = min(max(total/64, leastSpare), mostSpare)
	}
	if _, err := os.Stat(s.file); !errors.Is(err, fs.ErrNotExist) {
		_ = s.look()
	} else if !s.roomy() || s.fill() != nil {
		s.makeWay()
	}
	return s
}

// room is what is free; a disk that does not tell has enough, until a write fails.
func (s *space) room() int64 {
	free, _, err := diskRoom(filepath.Dir(s.file))
	if err != nil {
		return math.MaxInt64
	}
	return free
}

// roomy tells whether the file fits, with as much again to spare.
func (s *space) roomy() bool { return s.room() >= 2*s.spare }

// look returns errFull while the disk is full.
func (s *space) look() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.full && s.room() < s.spare:
		s.makeWay()
	case s.full && s.roomy() && s.fill() == nil:
		s.full = false
		s.log.Info("the disk of TRIAGE_DATA has room again")
	}
	if s.full {
		return errFull
	}
	return nil
}

// makeWay removes the file.
func (s *space) makeWay() {
	s.full = true
	_ = os.Remove(s.file)
	s.log.Error("the disk of TRIAGE_DATA is full: nothing is taken until there is room again",
		"do", "free space on the disk that "+s.file+" is on; no restart is needed", "needed", 2*s.spare)
}

// fill writes the file. It fails when there is less room than the disk says, as with a quota.
func (s *space) fill() error {
	something := make([]byte, s.spare)
	_, _ = rand.Read(something) // zeros take no room on some disks
	err := os.WriteFile(s.file, something, 0o600)
	if err != nil {
		_ = os.Remove(s.file)
	}
	return err
}
