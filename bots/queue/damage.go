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
		err := walk(stream.name, dir, func(record) {}, func(file string, offset int) {
			if _, known := broken[file]; !known {
				broken[file] = offset
			}
		})
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

// walk calls f with every whole record in the files of a stream, in order, and damaged with every place in them where there is none.
func walk(stream, dir string, f func(record), damaged func(file string, offset int)) error {
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
		name := filepath.Join(dir, "msgs", strconv.Itoa(index)+".blk")
		b, err := newBlock(stream, index, name)
		if err != nil {
			damaged(name, 0)
			continue
		}
		b.each(f, func(offset int) { damaged(name, offset) })
	}
	return nil
}
