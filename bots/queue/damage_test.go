package queue

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const waitingJobs = 100

// killed returns a folder as a process leaves it that is killed when 100 jobs wait and 10 are done.
func killed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, q, _ := open(t, dir, 3)
	add := func(id string) {
		t.Helper()
		if err := q.Add(t.Context(), Job{ID: id, Kind: "test", Key: id, Data: fmt.Appendf(nil, "%q", strings.Repeat(id+" ", 200))}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		add(fmt.Sprint("done", i))
	}
	var did sync.Map
	work(t, q, 1, func(_ context.Context, job Job) error { did.Store(job.ID, true); return nil }, func() bool { _, ok := did.Load("done9"); return ok })
	for i := range waitingJobs {
		add(fmt.Sprint("job", i))
	}
	if err := s.Save(t.Context(), "issue:1", "known"); err != nil {
		t.Fatal(err)
	}
	if err := s.Keep(t.Context(), "report", []byte("a report")); err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// reopened opens a store over a copy of a folder, does the jobs that it has, and returns their ids and what was logged.
func reopened(t *testing.T, dir string) (s *Store, done map[string]bool, log *lockedBuffer) {
	t.Helper()
	log = &lockedBuffer{}
	logger := slog.New(slog.NewJSONHandler(log, nil))
	s, err := Open(t.Context(), Options{Dir: dir, Lease: 500 * time.Millisecond, Log: logger})
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	t.Cleanup(s.Close)
	q := New(s, prometheus.NewRegistry(), logger, 3)
	var mu sync.Mutex
	done = map[string]bool{}
	work(t, q, 4, func(_ context.Context, job Job) error {
		mu.Lock()
		defer mu.Unlock()
		if !strings.HasPrefix(job.ID, "done") {
			done[job.ID] = true
		}
		return nil
	}, func() bool {
		info, err := s.jobs.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	})
	return s, done, log
}

// flip flips bits of a file, from a place on, or at random places when that is negative.
func flip(t *testing.T, file string, from, count int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range count {
		at := from + i
		if from < 0 {
			at = random.IntN(len(data))
		}
		if at < len(data) {
			data[at] ^= 0x5a
		}
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Of a damaged file of jobs, all that can be read is done, and what cannot is counted, in the log and in the metrics.
func TestDamagedJobs(t *testing.T) {
	before := killed(t)
	found, err := filepath.Glob(filepath.Join(before, "jetstream/$G/streams/TRIAGE_JOBS/msgs/*.blk"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files of jobs: %v %v", found, err)
	}
	blocks, _ := filepath.Rel(before, found[0])
	info, err := os.Stat(found[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		from, count int
		lost        int // at most
	}{
		{"in the middle", int(info.Size()) / 2, 64, 2},
		{"at the beginning", 0, 64, 1},
		{"at the end", int(info.Size()) - 64, 64, 1},
		{"everywhere", -1, 64, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(before)); err != nil {
				t.Fatal(err)
			}
			flip(t, filepath.Join(dir, blocks), c.from, c.count)
			s, done, log := reopened(t, dir)
			if lost := int(s.damage.lost.Load()); s.damage.files.Load() != 1 || lost > c.lost || len(done)+lost < waitingJobs {
				t.Errorf("%d are done, %d counted as lost, in %d files", len(done), lost, s.damage.files.Load())
			}
			if !strings.Contains(log.String(), `"level":"ERROR"`) || !strings.Contains(log.String(), blocks) {
				t.Errorf("the log does not tell it: %s", log.String())
			}
		})
	}
}

// Whichever file of a store is damaged, it opens, all jobs that can be read are done, and a damage that matters is told.
func TestAnyFileDamaged(t *testing.T) {
	before := killed(t)
	_ = filepath.WalkDir(before, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Base(path) == "lock" || filepath.Base(path) == "spare" {
			return err
		}
		name, _ := filepath.Rel(before, path)
		if info, err := entry.Info(); err != nil || info.Size() == 0 {
			return err
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(before)); err != nil {
				t.Fatal(err)
			}
			flip(t, filepath.Join(dir, name), -1, 16)
			want := waitingJobs
			if strings.Contains(name, "TRIAGE_JOBS/msgs") {
				want -= 16
			}
			_, done, log := reopened(t, dir)
			if len(done) < want {
				t.Errorf("%d are done\n%s", len(done), log.String())
			}
		})
		return nil
	})
}
