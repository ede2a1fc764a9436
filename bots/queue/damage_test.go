package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const waitingJobs = 100

// left returns a folder as a process leaves it that is killed, or stopped, when 100 jobs wait and 10 are done.
func left(t *testing.T, stopped bool) string {
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
	if stopped {
		s.Close()
	}
	return copyRunning(t, dir)
}

// openQuiet opens a store and a queue over a folder that log into a buffer.
func openQuiet(t *testing.T, dir string, log *lockedBuffer) (*Store, *Queue) {
	t.Helper()
	logger := slog.New(slog.NewJSONHandler(log, nil))
	s, err := Open(t.Context(), Options{Dir: dir, Lease: 500 * time.Millisecond, Log: logger})
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	t.Cleanup(s.Close)
	return s, New(s, prometheus.NewRegistry(), logger, 3)
}

// doAll does the jobs of a store until there is none, and returns the ids of those that were not done before.
func doAll(t *testing.T, s *Store, q *Queue) map[string]bool {
	t.Helper()
	var mu sync.Mutex
	done := map[string]bool{}
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
	return done
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
		if from < 0 && len(data) > 0 {
			at = random.IntN(len(data))
		}
		if at >= 0 && at < len(data) {
			data[at] ^= 0x5a
		}
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// copyRunning copies the folder of a server that runs: while it is read, files for the moment come and go.
func copyRunning(t *testing.T, dir string) (copied string) {
	t.Helper()
	for range 20 {
		copied = t.TempDir()
		err := os.CopyFS(copied, os.DirFS(dir))
		if err == nil {
			return copied
		}
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	t.Fatal("the folder never stood still")
	return ""
}

// Of a damaged file of jobs, all that can be read is done, and what cannot is counted, in the log and in the metrics.
func TestDamagedJobs(t *testing.T) {
	before := left(t, false)
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
			log := &lockedBuffer{}
			s, q := openQuiet(t, dir, log)
			done := doAll(t, s, q)
			if lost := int(s.damage.lost.Load()); s.damage.files.Load() != 1 || lost > c.lost || len(done)+lost < waitingJobs {
				t.Errorf("%d are done, %d counted as lost, in %d files", len(done), lost, s.damage.files.Load())
			}
			t.Logf("of %d jobs, %d are done and %d counted as lost", waitingJobs, len(done), s.damage.lost.Load())
			if !strings.Contains(log.String(), `"level":"ERROR"`) || !strings.Contains(log.String(), blocks) {
				t.Errorf("the log does not tell it: %s", log.String())
			}
		})
	}
}

// What a kill left of the last write is no damage, but a length that is damaged is, also when the file seems to end within its record.
func TestTornIsNoDamage(t *testing.T) {
	dir := filepath.Join(left(t, false), "jetstream/$G/streams", jobStream)
	found, err := filepath.Glob(filepath.Join(dir, "msgs/*.blk"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files of jobs: %v %v", found, err)
	}
	whole, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	read := func() (records, damaged, torn int) {
		err := walk(jobStream, dir, visitor{func(record) { records++ }, func(string, int) { damaged++ }, func(string, int) { torn++ }})
		if err != nil {
			t.Fatal(err)
		}
		return records, damaged, torn
	}
	all, damaged, torn := read()
	if all < waitingJobs || damaged != 0 || torn != 0 {
		t.Fatalf("whole: %d records, %d damaged, %d torn", all, damaged, torn)
	}
	lengthened := slices.Clone(whole)
	lengthened[2] = 0x10 // a MiB more
	for _, c := range []struct {
		name          string
		file          []byte
		damaged, torn int
	}{{"torn", whole[:len(whole)-10], 0, 1}, {"a length", lengthened, 1, 0}} {
		if err := os.WriteFile(found[0], c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		if records, damaged, torn := read(); records != all-1 || damaged != c.damaged || torn != c.torn {
			t.Errorf("%s: %d of %d records, %d damaged, %d torn", c.name, records, all, damaged, torn)
		}
	}
}

// A file that is damaged while the store is open is found when it is opened again within the process, and all handles stay good.
func TestDamagedWhileOpen(t *testing.T) {
	dir := left(t, true)
	log := &lockedBuffer{}
	s, q := openQuiet(t, dir, log)
	found, err := filepath.Glob(filepath.Join(dir, "jetstream/$G/streams/TRIAGE_JOBS/msgs/*.blk"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files of jobs: %v %v", found, err)
	}
	info, err := os.Stat(found[0])
	if err != nil {
		t.Fatal(err)
	}
	flip(t, found[0], int(info.Size())/2, 64)
	s.fail()
	for deadline := time.Now().Add(20 * time.Second); s.damage.lost.Load() == 0 || s.Writable() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not found\n%s", log.String())
		}
	}
	done := doAll(t, s, q)
	if lost := int(s.damage.lost.Load()); lost > 2 || len(done)+lost < waitingJobs {
		t.Errorf("%d are done, %d counted as lost\n%s", len(done), lost, log.String())
	}
}

// Whichever file of a store is damaged, it opens, and all jobs that can be read are done.
func TestAnyFileDamaged(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		before := left(t, stopped)
		err := filepath.WalkDir(before, func(path string, entry fs.DirEntry, err error) error {
			name, _ := filepath.Rel(before, path)
			if err != nil || entry.IsDir() || name == "lock" || name == "spare" {
				return err
			}
			t.Run(fmt.Sprintf("stopped=%v/%s", stopped, name), func(t *testing.T) {
				t.Parallel()
				anyDamaged(t, before, name)
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func anyDamaged(t *testing.T, before, name string) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(before)); err != nil {
		t.Fatal(err)
	}
	flip(t, filepath.Join(dir, name), -1, 16)
	want := waitingJobs
	if strings.Contains(name, "TRIAGE_JOBS/msgs") && strings.HasSuffix(name, ".blk") {
		want -= 16
	}
	log := &lockedBuffer{}
	s, q := openQuiet(t, dir, log)
	if done := doAll(t, s, q); len(done) < want {
		t.Errorf("%d are done\n%s", len(done), log.String())
	}
}
