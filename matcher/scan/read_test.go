package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/matcher/scan/corpus"
)

var readLiterals = []Literal{{Text: "CUDA out of memory"}, {Text: "traceback", Fold: true}, {Text: "softcap"}}

const pageSize = 4 << 10

// checkRead reads data and compares what is yielded with it.
func checkRead(t *testing.T, data []byte, src io.Reader, how Reading) {
	t.Helper()
	set, err := New(readLiterals)
	if err != nil {
		t.Fatal(err)
	}
	read := &readChunks{t: t}
	if err := set.Read(t.Context(), src, how, read.add); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read.all, data) {
		at := 0
		for at < min(len(read.all), len(data)) && read.all[at] == data[at] {
			at++
		}
		t.Fatalf("%+v: %d bytes, want %d; at %d %.60q, want %.60q", how, len(read.all), len(data), at, read.all[at:], data[at:])
	}
}

// readChunks checks chunks one by one.
type readChunks struct {
	t             *testing.T
	all           []byte
	lines         int64  // that end in all
	start         int    // of the last of them that does not
	before, older []byte // Data of the chunks before
	open          bool
}

func (r *readChunks) add(c *Chunk) error {
	t, at := r.t, len(r.all)
	if c.Line != 1+r.lines || c.Lines != int64(bytes.Count(c.Data, []byte("\n"))) {
		t.Fatalf("chunk at %d begins in line %d and has %d, want %d", at, c.Line, c.Lines, 1+r.lines)
	}
	r.lines += c.Lines
	if !bytes.HasSuffix(r.all, append(bytes.Clone(r.older), r.before...)) {
		t.Fatalf("the chunks before the one at %d have changed", at)
	}
	r.all = append(r.all, c.Data...)
	lineStart := r.start // of the line that this chunk begins in
	if end := bytes.LastIndexByte(c.Data, '\n') + 1; end > 0 {
		r.start = at + end
	}
	r.older, r.before = r.before, c.Data
	if c.Open || r.open {
		r.older, r.before = nil, nil
	}
	if c.End != int64(len(r.all)) || len(c.Data) == 0 {
		t.Fatalf("chunk at %d ends at %d, want %d", at, c.End, len(r.all))
	}
	if c.Open || r.open {
		if len(c.Hits) > 0 || bytes.Contains(c.Data[:len(c.Data)-1], []byte("\n")) {
			t.Fatalf("piece of a line at %d: %d hits, %.60q", at, len(c.Hits), c.Data)
		}
		if r.open && !c.Open && len(r.all)-lineStart <= LongLine {
			t.Fatalf("a line of %d bytes is not handed on whole", len(r.all)-lineStart)
		}
		r.open = c.Open
		return nil
	}
	var hits []string
	for _, hit := range c.Hits {
		if want := int64(bytes.Count(c.Data[:hit.Start], []byte("\n"))); hit.Line != want {
			t.Fatalf("a hit in chunk %d is in its line %d, want %d", c.Line, hit.Line, want)
		}
		slices.Sort(hit.IDs)
		hits = append(hits, fmt.Sprint(hit.Start, hit.End, hit.IDs))
	}
	if diff := cmp.Diff(naive(readLiterals, c.Data), hits); diff != "" {
		t.Fatal(diff)
	}
	start := 0
	var long []int
	for line := range bytes.Lines(c.Data) {
		if len(line) > LongLine {
			long = append(long, start)
		}
		start += len(line)
	}
	if diff := cmp.Diff(long, append([]int(nil), c.Long...)); diff != "" {
		t.Fatal(diff)
	}
	return nil
}

// logs are sources with everything that is hard to cut.
func logs(t *testing.T) map[string][]byte {
	rnd := rand.New(rand.NewPCG(3, 4))
	var ordinary bytes.Buffer
	if err := corpus.Write(&ordinary, 700_000, corpus.Ordinary, 5); err != nil {
		t.Fatal(err)
	}
	var breaks, long bytes.Buffer
	for breaks.Len() < 60_000 {
		breaks.WriteString(strings.Repeat("x", rnd.IntN(4)*rnd.IntN(3000)))
		breaks.WriteString([]string{"\n", "\r", "\r\n", "\r\r\n", "\n\r", "Traceback", " CUDA out of \x1b[1mmemory", "\n\n"}[rnd.IntN(8)])
	}
	for _, n := range []int{10, LongLine - 1, LongLine, LongLine + 1, 5, LongLine + 3, 3 * LongLine, 1, 200_000, 2_000_000, 150_000, 140_000, 0, 300_000} {
		long.WriteString(strings.Repeat("0123456789", n/10) + "CUDA out of memory"[:n%10] + "softcap")
		long.WriteString([]string{"\n", "\r", "\r\n"}[rnd.IntN(3)])
	}
	return map[string][]byte{
		"empty": nil, "newline": []byte("\n"), "no newline": []byte("CUDA out of memory"), "returns": bytes.Repeat([]byte("\r"), 20_000),
		"windows": bytes.Repeat([]byte("softcap\r\n"), 5000), "ordinary": ordinary.Bytes(), "breaks": breaks.Bytes(), "long": long.Bytes(),
		"one line": bytes.Repeat([]byte("softcap "), 120_000), "ends in a return": append(bytes.Repeat([]byte("z"), 4095), '\r'),
		"a page": bytes.Repeat([]byte("y"), pageSize), "two pages": append(bytes.Repeat([]byte("y"), 2*pageSize-1), '\n'),
	}
}

func TestRead(t *testing.T) {
	for name, data := range logs(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, block := range []int{pageSize, 3 * pageSize, blockSize} {
				for workers := range 4 {
					how := Reading{Workers: workers, Block: block}
					file, err := os.Open(path)
					if err != nil {
						t.Fatal(err)
					}
					checkRead(t, data, file, how)
					file.Close()
					checkRead(t, data, bytes.NewReader(data), how)
				}
			}
			checkRead(t, data, iotest.HalfReader(bytes.NewReader(data)), Reading{Eager: true})
			if len(data) < 100_000 {
				checkRead(t, data, iotest.OneByteReader(bytes.NewReader(data)), Reading{Eager: true, Block: pageSize})
			}
			checkRead(t, data, iotest.DataErrReader(bytes.NewReader(data)), Reading{})
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\n"), uint16(4090), uint8(1))
	f.Add([]byte("\r"), uint16(4095), uint8(2))
	f.Add([]byte("CUDA out of memory\r\n\r"), uint16(300), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, repeat uint16, workers uint8) {
		if len(data) == 0 {
			return
		}
		data = append(bytes.Repeat(data, min(int(repeat), 50_000/len(data))), data...)
		how := Reading{Workers: int(workers % 4), Block: pageSize}
		checkRead(t, data, iotest.HalfReader(bytes.NewReader(data)), how)
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		checkRead(t, data, file, how)
	})
}

// TestReadFirst: Keep and First together decide of the first lines, Keep alone of those far behind them.
func TestReadFirst(t *testing.T) {
	set, err := New(readLiterals)
	if err != nil {
		t.Fatal(err)
	}
	const lines, firstLines = 20_000, 700
	var data bytes.Buffer
	for i := 1; i <= lines; i++ {
		fmt.Fprintln(&data, []string{"step", "torch", "CUDA out of memory", "softcap", "softcap of torch"}[i%5], i)
	}
	how := Reading{
		Block: pageSize, FirstLines: firstLines,
		Keep:  func(line []byte, _ func() []int32) bool { return bytes.HasPrefix(line, []byte("CUDA")) },
		First: func(line []byte) bool { return bytes.Contains(line, []byte("torch")) },
	}
	for how.Workers = range 4 {
		hits := make(map[int64]int) // literals in each
		err := set.Read(t.Context(), bytes.NewReader(data.Bytes()), how, func(c *Chunk) error {
			for _, h := range c.Hits {
				hits[c.Line+h.Line] = len(h.IDs)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := int64(1); i <= lines; i++ {
			literals, hit := hits[i]
			first := i <= firstLines || hit && i < lines/2
			want, wanted := []int{0, 0, 1, 0, 1}[i%5], i%5 == 2 || first && (i%5 == 1 || i%5 == 4)
			if hit != wanted || literals != want && hit {
				t.Fatalf("%d workers, line %d: a hit is %v, with %d literals", how.Workers, i, hit, literals)
			}
		}
	}
}

// TestReadStops is about sources, receivers and contexts that end a reading early.
func TestReadStops(t *testing.T) {
	set, err := New(readLiterals)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("softcap\n"), 10_000)
	broken := errors.New("the disk is gone")
	read := 0
	count := func(c *Chunk) error { read += len(c.Data); return nil }
	err = set.Read(t.Context(), io.MultiReader(bytes.NewReader(data), iotest.ErrReader(broken)), Reading{}, count)
	if !errors.Is(err, broken) || read != len(data) {
		t.Errorf("read %d bytes (%v) of a broken source, want all %d before it broke", read, err, len(data))
	}
	full := errors.New("enough")
	if err = set.Read(t.Context(), bytes.NewReader(data), Reading{Workers: 2, Block: pageSize}, func(*Chunk) error { return full }); !errors.Is(err, full) {
		t.Errorf("the receiver's error became %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stuck, writer := io.Pipe()
	defer writer.Close()
	go func() {
		writer.Write(data)
		cancel()
	}()
	if err = set.Read(ctx, stuck, Reading{Eager: true}, count); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled reading ended with %v", err)
	}
}
