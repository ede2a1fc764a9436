package queue

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Before JetStream reads the files of an embedded store, they are checked here. The files of a stream in which something is damaged are put
// aside, and restore stores anew what can be read of them.

// damage counts what was found damaged since the start.
type damage struct{ files, lost atomic.Int64 }

// keeping is how the messages of a stream are kept.
type keeping struct {
	name   string
	latest bool          // one for each subject
	age    time.Duration // 0: for ever
}

var streams = []keeping{
	{jobStream, true, 0},
	{deadStream, false, keepDead},
	{"KV_" + stateBucket, true, keepStates},
	{"KV_" + keptBucket, true, keepDocuments},
	{"KV_" + vaultBucket, true, 0},
}

// aside is the folder of damaged files within the store, and asideTime when something came there.
const (
	aside     = "damaged"
	asideTime = "20060102T150405.000"
)

func (s *Store) streamDir(stream string) string {
	return filepath.Join(s.dir, "jetstream", "$G", "streams", stream)
}

// putAside moves the files of every stream away in which something is damaged. Nothing may have them open.
func (s *Store) putAside() error {
	for _, stream := range streams {
		dir := s.streamDir(stream.name)
		broken := map[string]int{}
		err := walk(stream.name, dir, visitor{damaged: func(file string, offset int) {
			if _, known := broken[file]; !known {
				broken[file] = offset
			}
		}, torn: func(file string, offset int) {
			s.log.Warn("a file of the store ends within a record, as after a kill while it was written: that record is dropped", "file", file, "offset", offset)
		}})
		if err != nil {
			return err
		}
		if len(broken) == 0 {
			continue
		}
		to := filepath.Join(s.dir, aside, stream.name+"-"+time.Now().UTC().Format(asideTime))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(dir, to)); err != nil {
			return fmt.Errorf("put damaged files aside: %w", err)
		}
		for file, offset := range broken {
			s.damage.files.Add(1)
			s.log.Error("a file of the store is damaged", "file", file, "offset", offset, "kept", to,
				"do", "look whether the disk fails; what can be read is stored anew")
		}
	}
	s.putConsumersAside()
	return nil
}

// visitor is told what stands in the files of a stream. What is nil is not told.
type visitor struct {
	record  func(record)                  // every whole one, in order
	damaged func(file string, offset int) // from here on there is no whole one for a while
	torn    func(file string, offset int) // the last one ends too early
}

// walk goes through the files of a stream.
func walk(stream, dir string, v visitor) error {
	entries, err := os.ReadDir(filepath.Join(dir, "msgs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	var files []int
	for _, entry := range entries {
		number, ok := strings.CutSuffix(entry.Name(), ".blk")
		if index, err := strconv.Atoi(number); ok && err == nil {
			files = append(files, index)
		}
	}
	slices.SortFunc(files, cmp.Compare)
	for _, index := range files {
		v.file(stream, index, filepath.Join(dir, "msgs", strconv.Itoa(index)+".blk"))
	}
	return nil
}

func (v visitor) file(stream string, index int, name string) {
	tell := func(f func(string, int), offset int) {
		if f != nil {
			f(name, offset)
		}
	}
	b, err := newBlock(stream, index, name)
	if err != nil {
		tell(v.damaged, 0)
		return
	}
	end := b.each(func(r record) {
		if v.record != nil {
			v.record(r)
		}
	}, func(offset int) { tell(v.damaged, offset) })
	if end < len(b.buf) {
		tell(v.torn, end)
	}
}
