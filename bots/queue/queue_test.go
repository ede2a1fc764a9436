package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
)

// open opens a store and a queue in a folder for a test.
func open(t *testing.T, dir string, attempts int) (*Store, *Queue, *bytes.Buffer) {
	t.Helper()
	var log lockedBuffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	s, err := Open(t.Context(), Options{Dir: dir, Lease: 500 * time.Millisecond, Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, New(s, prometheus.NewRegistry(), logger, attempts), &log.Buffer
}

type lockedBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(p)
}

// work runs a handler until done says so.
func work(t *testing.T, q *Queue, workers int, handle Handler, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Work(ctx, "test", workers, time.Second, handle) }()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("not done within 20 s")
			break
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestSameDeliveryOnceAndLaterReplacesWaiting(t *testing.T) {
	_, q, _ := open(t, t.TempDir(), 3)
	for range 5 {
		if err := q.Add(t.Context(), Job{ID: "1", Kind: "test", Key: "issue", Data: json.RawMessage(`"first"`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Add(t.Context(), Job{ID: "2", Kind: "test", Key: "issue", Data: json.RawMessage(`"second"`)}); err != nil {
		t.Fatal(err)
	}
	if err := q.Add(t.Context(), Job{ID: "3", Kind: "test", Key: "other", Data: json.RawMessage(`"third"`)}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var did []string
	work(t, q, 3, func(_ context.Context, job Job) error {
		mu.Lock()
		defer mu.Unlock()
		did = append(did, string(job.Data))
		return nil
	}, func() bool { mu.Lock(); defer mu.Unlock(); return len(did) >= 2 })
	if text := strings.Join(did, " "); len(did) != 2 || !strings.Contains(text, "second") || !strings.Contains(text, "third") {
		t.Errorf("did %v", did)
	}
}

// Many at once, so that they share writes, duplicates among them.
func TestManyAtOnce(t *testing.T) {
	s, q, _ := open(t, t.TempDir(), 3)
	var group sync.WaitGroup
	for i := range 500 {
		group.Go(func() {
			if err := q.Add(t.Context(), Job{ID: fmt.Sprint(i / 2), Kind: "test", Key: fmt.Sprint(i / 2)}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	info, err := s.jobs.Info(t.Context())
	if err != nil || info.State.Msgs != 250 {
		t.Errorf("%d jobs wait, %v", info.State.Msgs, err)
	}
}

func TestOneKeyNeverAtOnce(t *testing.T) {
	_, q, _ := open(t, t.TempDir(), 3)
	var running, most, did atomic.Int32
	handle := func(context.Context, Job) error {
		most.Store(max(most.Load(), running.Add(1)))
		time.Sleep(50 * time.Millisecond)
		running.Add(-1)
		did.Add(1)
		return nil
	}
	stop := make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = q.Add(context.Background(), Job{ID: fmt.Sprint(i), Kind: "test", Key: "issue"})
				time.Sleep(5 * time.Millisecond)
			}
		}
	}()
	work(t, q, 4, handle, func() bool { return did.Load() >= 5 })
	close(stop)
	if most.Load() != 1 {
		t.Errorf("%d at once", most.Load())
	}
}

func TestWhatFails(t *testing.T) {
	_, q, log := open(t, t.TempDir(), 2)
	secret := "hf_" + strings.Repeat("aBcDeFgHiJ", 3) + "kLmN"
	for _, id := range []string{"permanent", "panic", "later", "twice"} {
		if err := q.Add(t.Context(), Job{ID: id, Kind: "test", Key: id}); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	tries := map[string]int{}
	handle := func(_ context.Context, job Job) error {
		mu.Lock()
		defer mu.Unlock()
		tries[job.ID]++
		switch {
		case job.ID == "permanent":
			return Permanent(errors.New("no: " + secret))
		case job.ID == "panic":
			panic("broken " + secret)
		case job.ID == "later" && tries[job.ID] < 5:
			return Later(errors.New("rate limited"), 0)
		case job.ID == "twice":
			return errors.New("again no")
		}
		return nil
	}
	work(t, q, 4, handle, func() bool {
		dead, err := q.Dead(context.Background(), 10)
		mu.Lock()
		defer mu.Unlock()
		return err == nil && len(dead) == 3 && tries["later"] == 5
	})
	dead, err := q.Dead(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]Dead{}
	for _, d := range dead {
		reasons[d.Job.ID] = d
	}
	if reasons["permanent"].Failures != 1 || reasons["panic"].Failures != 2 || reasons["twice"].Reason != "again no" {
		t.Errorf("dead: %+v", reasons)
	}
	if all := fmt.Sprint(dead) + log.String(); strings.Contains(all, secret) {
		t.Error("a secret stands among the dead or in the log")
	}
	if err := q.Revive(t.Context(), reasons["twice"].Sequence); err != nil {
		t.Fatal(err)
	}
	var again atomic.Bool
	work(t, q, 1, func(_ context.Context, job Job) error { again.Store(strings.HasPrefix(job.ID, "twice")); return nil }, again.Load)
}

func TestFullQueueRefuses(t *testing.T) {
	s, q, _ := open(t, t.TempDir(), 3)
	config := s.jobs.CachedInfo().Config
	config.MaxMsgs = 2
	if _, err := s.js.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := q.Add(t.Context(), Job{ID: fmt.Sprint(i), Kind: "test", Key: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Add(t.Context(), Job{ID: "9", Kind: "test", Key: "9"}); !errors.Is(err, ErrFull) {
		t.Errorf("a job over the limit: %v", err)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, ErrFull) {
		t.Errorf("a full queue is ready: %v", err)
	}
	if err := q.Add(t.Context(), Job{ID: "10", Kind: "test", Key: "10", Data: json.RawMessage(`"` + strings.Repeat("x", MaxBytes) + `"`)}); err == nil {
		t.Error("a job of a megabyte is taken")
	}
}

func TestStateSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	s, q, _ := open(t, dir, 3)
	if err := q.Add(t.Context(), Job{ID: "1", Kind: "test", Key: "k"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), "issue:1", map[string]int{"comment": 7}); err != nil {
		t.Fatal(err)
	}
	seal, err := s.Seal(t.Context(), "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	s, q, _ = open(t, dir, 3)
	var v map[string]int
	if found, err := s.Load(t.Context(), "issue:1", &v); !found || err != nil || v["comment"] != 7 {
		t.Errorf("state: %v %v %v", found, err, v)
	}
	if again, _ := s.Seal(t.Context(), "a", "b"); again != seal {
		t.Error("a seal changed")
	}
	if other, _ := s.Seal(t.Context(), "ab", ""); other == seal {
		t.Error("different texts have the same seal")
	}
	first, _ := s.First(t.Context(), "x")
	second, _ := s.First(t.Context(), "x")
	if !first || second {
		t.Error("of two, not exactly the first is first")
	}
	var did atomic.Bool
	work(t, q, 1, func(context.Context, Job) error { did.Store(true); return nil }, did.Load)
	if _, err := s.jobs.GetMsg(t.Context(), 1); !errors.Is(err, jetstream.ErrMsgNotFound) {
		t.Errorf("a job that was done is still there: %v", err)
	}
}

// What the store may take is bounded by what is asked for, not by what is free at the start: a restart with waiting jobs works on a full
// disk.
func TestNothingIsReserved(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Bytes: 1 << 50, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("with more than any disk has: %v", err)
	}
	defer s.Close()
	if bound := s.jobs.CachedInfo().Config.MaxBytes; bound != 1<<50 {
		t.Errorf("the bound of waiting jobs is %d", bound)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("not ready: %v", err)
	}
}

// Kept documents are bounded in bytes: the oldest go, and new ones are kept. One can be deleted.
func TestDocumentsAreBounded(t *testing.T) {
	const most = 1 << 20
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Bytes: most, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	document := bytes.Repeat([]byte("x"), 100<<10)
	for i := range 20 {
		if err := s.Keep(t.Context(), fmt.Sprint("id", i), document); err != nil {
			t.Fatalf("document %d: %v", i, err)
		}
	}
	stream, err := s.js.Stream(t.Context(), "KV_"+keptBucket)
	if err != nil {
		t.Fatal(err)
	}
	if used := stream.CachedInfo().State.Bytes; used > most {
		t.Errorf("%d bytes are kept", used)
	}
	if _, err := s.Kept(t.Context(), "id0"); !errors.Is(err, ErrNotKept) {
		t.Errorf("the oldest: %v", err)
	}
	if err := s.Forget(t.Context(), "id19"); err != nil {
		t.Errorf("the newest cannot be deleted: %v", err)
	}
	if _, err := s.Kept(t.Context(), "id19"); !errors.Is(err, ErrNotKept) {
		t.Errorf("what was deleted: %v", err)
	}
	if err := s.Forget(t.Context(), "id19"); !errors.Is(err, ErrNotKept) {
		t.Errorf("deleted twice: %v", err)
	}
}

// TestLatest: of many states of a class those kept last are given, those kept again among them.
func TestLatest(t *testing.T) {
	store, _, _ := open(t, t.TempDir(), 1)
	for n := range 10 {
		if err := store.Save(t.Context(), fmt.Sprint("seen:", n), n); err != nil {
			t.Fatal(err)
		}
	}
	for key, n := range map[string]int{"seen:2": 2, "other:1": 11} {
		if err := store.Save(t.Context(), key, n); err != nil {
			t.Fatal(err)
		}
	}
	latest, err := store.Latest(t.Context(), "seen", 3)
	if got := fmt.Sprintf("%s", latest); err != nil || got != "[8 9 2]" {
		t.Errorf("%s, %v", got, err)
	}
}
