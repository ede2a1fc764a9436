package backend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// maxBatchLine bounds one line of a batch, in bytes.
const maxBatchLine = 1 << 20

// BatchOptions say what a batch answers beside the selection.
type BatchOptions struct {
	Changes int                        // at most so many proposals for a situation without a backend
	Known   map[string]condition.Value // facts of every situation that says nothing else
}

// batch answers many situations, several at a time, in the order in which they were asked.
type batch struct {
	library    *Library
	vocabulary *fact.Vocabulary
	options    BatchOptions
	versions   versionCache
}

// batchLine is a line of a batch, and where its answer goes.
type batchLine struct {
	number int // from 1
	text   []byte
	answer chan []byte
}

// Batch answers one situation a line, in order: JSON Lines {"id", "facts"} in, {"id", "available", "selected", ..., "unknown", "disabled"}
// out. A line that cannot be read is answered by {"id", "line", "error"}. The error tells that reading or writing failed.
func (l *Library) Batch(v *fact.Vocabulary, in io.Reader, out io.Writer, options BatchOptions) error {
	b := &batch{library: l, vocabulary: l.Vocabulary(v), options: options}
	workers := runtime.GOMAXPROCS(0)
	asked, inOrder := make(chan batchLine, 4*workers), make(chan batchLine, 64*workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { b.work(asked) })
	}
	written := make(chan error, 1)
	go func() { written <- writeAnswers(out, inOrder) }()
	err := readLines(in, func(line batchLine) {
		inOrder <- line
		asked <- line
	})
	close(asked)
	running.Wait()
	close(inOrder)
	return errors.Join(err, <-written)
}

func (b *batch) work(asked <-chan batchLine) {
	s := b.library.newSituation()
	for line := range asked {
		s.clear()
		line.answer <- b.answer(s, line)
	}
}

// readLines hands on each line that is not empty.
func readLines(in io.Reader, handOn func(batchLine)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), maxBatchLine)
	for number := 1; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) > 0 {
			handOn(batchLine{number, bytes.Clone(lines.Bytes()), make(chan []byte, 1)})
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a line has more than %d bytes", maxBatchLine)
	}
	return err
}

// writeAnswers waits for the answer of each line. After a failure it goes on to wait, so that nobody else has to.
func writeAnswers(out io.Writer, lines <-chan batchLine) error {
	w := bufio.NewWriterSize(out, 1<<16)
	var failed error
	for line := range lines {
		answer := <-line.answer
		if failed == nil {
			_, failed = w.Write(answer)
		}
	}
	return errors.Join(failed, w.Flush())
}

func failure(id json.RawMessage, line int, err error) []byte {
	return encode(map[string]any{"id": id, "line": line, "error": fmt.Sprintf("line %d: %v", line, err)})
}

func encode(answer map[string]any) []byte {
	if id, ok := answer["id"].(json.RawMessage); ok && len(id) == 0 {
		answer["id"] = nil
	}
	text, err := json.Marshal(answer)
	if err != nil { // only an id that is no JSON can fail, and that was read as JSON
		text = []byte(`{"error": "the answer cannot be written"}`)
	}
	return append(text, '\n')
}
