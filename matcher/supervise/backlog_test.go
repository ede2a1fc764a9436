package supervise

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestBacklogKeepsEverythingThatFits(t *testing.T) {
	b := newBacklog(0)
	var want strings.Builder
	go func() {
		for i := range 1000 {
			io.WriteString(b, "line "+strconv.Itoa(i)+"\n")
		}
		b.Close()
	}()
	for i := range 1000 {
		want.WriteString("line " + strconv.Itoa(i) + "\n")
	}
	got, err := io.ReadAll(b)
	if err != nil || string(got) != want.String() || b.Skipped() != 0 {
		t.Errorf("%d bytes, want %d; skipped %d; %v", len(got), want.Len(), b.Skipped(), err)
	}
}

// A reader that does not read costs bounded memory; what it then reads begins with the beginning and ends with the end.
func TestBacklogSkipsTheOldest(t *testing.T) {
	b := newBacklog(0)
	line := strings.Repeat("x", 99) + "\n"
	chunk := []byte(strings.Repeat(line, 300) + "0123456789") // chunks do not end with lines
	io.WriteString(b, "the beginning\n")
	written := len("the beginning\n")
	for range 4 * maxBacklog / len(chunk) {
		b.Write(chunk)
		written += len(chunk)
	}
	io.WriteString(b, "\nthe end\n")
	b.Close()
	if b.size > maxBacklog {
		t.Errorf("it holds %d bytes", b.size)
	}
	got, _ := io.ReadAll(b)
	if !bytes.HasSuffix(got, []byte("\nthe end\n")) || !bytes.HasPrefix(got, []byte("the beginning\n"+line)) {
		t.Errorf("it begins with %.20q and ends with %.20q", got, got[len(got)-20:])
	}
	if total := int64(len(got)) + b.Skipped(); total != int64(written+len("\nthe end\n")) {
		t.Errorf("%d bytes were read or skipped of %d", total, written)
	}
}

// A writer with patience loses nothing to a reader that comes.
func TestBacklogWaits(t *testing.T) {
	b := newBacklog(time.Hour)
	chunk := bytes.Repeat([]byte("0123456789abcde\n"), 4096)
	const chunks = 3 * maxBacklog / (16 * 4096)
	go func() {
		for range chunks {
			b.Write(chunk)
		}
		b.Close()
	}()
	n, err := io.Copy(io.Discard, b)
	if want := int64(chunks * len(chunk)); n != want || err != nil || b.Skipped() != 0 {
		t.Errorf("%d bytes of %d, %d skipped, %v", n, want, b.Skipped(), err)
	}
}

// Once nobody reads any more, nobody waits and nothing is held.
func TestBacklogGivenUp(t *testing.T) {
	b := newBacklog(time.Hour)
	done := make(chan struct{})
	go func() {
		b.Write(make([]byte, 2*maxBacklog))
		b.Write(make([]byte, 2*maxBacklog))
		close(done)
	}()
	b.GiveUp()
	<-done
	if b.size != 0 {
		t.Errorf("it holds %d bytes", b.size)
	}
}

// Short writes to a full backlog cost as little as long ones.
func BenchmarkBacklogFull(b *testing.B) {
	full := newBacklog(0)
	full.Write(bytes.Repeat([]byte("x\n"), maxBacklog))
	line := []byte("step 100 loss 2.31\n")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		full.Write(line)
	}
}
