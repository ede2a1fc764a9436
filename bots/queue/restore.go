package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// restored is the file in a folder of damaged files that says that what can be read of them is stored anew.
const restored = "restored"

// restore stores anew what can be read of the files that putAside moved away. A later message of the same subject is left as it is. What
// was done, but whose note of that is damaged, comes again, which a Handler bears.
func (s *Store) restore(ctx context.Context) error {
	for _, stream := range streams {
		folders, err := filepath.Glob(filepath.Join(literal(s.dir), aside, stream.name+"-*"))
		if err != nil {
			return err
		}
		for _, dir := range folders {
			if _, err := os.Stat(filepath.Join(dir, restored)); err == nil {
				continue
			}
			if err := s.restoreStream(ctx, stream, dir); err != nil {
				return fmt.Errorf("store anew what can be read in %s: %w", dir, err)
			}
		}
	}
	return nil
}

// literal is a path in which no character means anything to filepath.Glob.
func literal(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// survey is what the files of a stream say about its messages.
type survey struct {
	gone   map[uint64]bool   // deleted
	newest map[string]uint64 // of each subject, deleted or not
	lost   int               // as far as can be told
}

// look reads the files of a stream once.
func look(stream, dir string) (v survey, err error) {
	v = survey{gone: map[uint64]bool{}, newest: map[string]uint64{}}
	type span struct{ after, before uint64 }
	var missing []span
	var last uint64
	holes := 0
	err = walk(stream, dir, visitor{damaged: func(string, int) { holes++ }, record: func(r record) {
		if r.deleted {
			v.gone[r.sequence] = true
			return
		}
		if holes > 0 && last > 0 {
			missing = append(missing, span{last, r.sequence})
			holes = 0
		}
		v.lost += holes // at the beginning or the end nobody knows how many there were: one in each place, then
		holes, last = 0, r.sequence
		v.newest[r.subject] = r.sequence
	}})
	v.lost += holes
	deleted := slices.Sorted(maps.Keys(v.gone))
	for _, m := range missing {
		from, _ := slices.BinarySearch(deleted, m.after+1)
		to, _ := slices.BinarySearch(deleted, m.before)
		v.lost += int(m.before-m.after-1) - (to - from)
	}
	return v, err
}

const (
	restoreWindow = 200 // messages on their way at once
	restoreTime   = 30 * time.Second
)

// restoreStream stores anew what can be read in a folder of damaged files.
func (s *Store) restoreStream(ctx context.Context, stream keeping, dir string) error {
	known, err := look(stream.name, dir)
	if err != nil {
		return err
	}
	count := 0
	var sent []jetstream.PubAckFuture
	var failed error
	settle := func() {
		soon, cancel := context.WithTimeout(ctx, restoreTime) // of these
		defer cancel()
		for _, one := range sent {
			failed = errors.Join(failed, stored(soon, one))
		}
		sent = sent[:0]
	}
	err = walk(stream.name, dir, visitor{record: func(r record) {
		old := stream.age > 0 && time.Since(r.at) > stream.age
		if r.deleted || known.gone[r.sequence] || stream.latest && known.newest[r.subject] != r.sequence || old || failed != nil {
			return
		}
		one, err := s.js.PublishMsgAsync(r.message(stream.latest))
		if err != nil {
			failed = errors.Join(failed, err)
			return
		}
		count++
		if sent = append(sent, one); len(sent) == restoreWindow {
			settle()
		}
	}})
	settle()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	s.damage.lost.Add(int64(known.lost))
	s.log.Error("what could be read of damaged files is stored anew", "stream", stream.name, "messages", count, "lost", known.lost, "from", dir,
		"do", "delete that folder when you do not need it")
	return os.WriteFile(filepath.Join(dir, restored), nil, 0o600)
}

// message is a record as a message to store anew, or, of those of which there is one for each subject, when there is none yet.
func (r record) message(latest bool) *nats.Msg {
	message := nats.NewMsg(r.subject)
	message.Data = append([]byte(nil), r.data...)
	if header, err := nats.DecodeHeadersMsg(r.header); err == nil {
		message.Header = header
	}
	for name := range message.Header {
		if strings.HasPrefix(name, "Nats-Expected-") || strings.HasPrefix(name, "Nats-Batch-") {
			message.Header.Del(name)
		}
	}
	if latest {
		message.Header.Set(jetstream.ExpectedLastSubjSeqHeader, "0")
	}
	return message
}

// stored waits until a message is stored. That a later one is there already is as good.
func stored(ctx context.Context, sent jetstream.PubAckFuture) error {
	select {
	case <-sent.Ok():
		return nil
	case err := <-sent.Err():
		if api := (&jetstream.APIError{}); errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
			return nil
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
