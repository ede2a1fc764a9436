package reading

import (
	"bytes"
	"slices"

	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/scan"
)

// window is the bytes of a source that are still there: the chunk that is being read, and the last lines and bytes before it.
type window struct {
	data   []byte // of the chunk
	at     int    // where the line that is being read begins
	number int    // of that line
	pieces int    // number of the last line that came in pieces: its raw text is lost

	recent [2]recentChunk // the last two before data
	tail   []byte         // the last lines before them, unless they have enough
	last   []byte         // the last bytes before them, likewise
}

// recentChunk is what is remembered of a chunk as long as its data is there.
type recentChunk struct {
	data  []byte
	lines int64
	open  bool   // data is a piece of a line, and not its end
	own   []byte // memory for data that is not there for long
}

// open goes to the first line of a chunk.
func (w *window) open(c *scan.Chunk) { w.data, w.at, w.number = c.Data, 0, int(c.Line) }

// leave leaves the chunk: the next line has that number.
func (w *window) leave(next int) { w.data, w.at, w.number = nil, 0, next }

// remember holds on to the last lines, for those that will ask for what stood before them, and to the last bytes. The data of two
// chunks is still there, so that they are copied only when the chunks are small. The data of a passing chunk is not there for long.
func (w *window) remember(c *scan.Chunk, passing bool) {
	now := recentChunk{data: c.Data, lines: c.Lines, open: c.Open}
	oldest, between := w.recent[0], w.recent[1]
	w.keepTail(oldest, between.lines+now.lines)
	w.keepLast(oldest, len(between.data)+len(now.data))
	now.own = oldest.own
	if passing {
		now.own = append(now.own[:0], c.Data[max(0, len(c.Data)-tailBytes):]...)
		now.data = now.own
	}
	w.recent = [2]recentChunk{between, now}
}

// keepTail adds to tail the lines of a chunk whose data goes, unless those after it have so many lines that it is not needed.
func (w *window) keepTail(going recentChunk, after int64) {
	switch {
	case after >= prefilter.ContextLines:
		w.tail = w.tail[:0]
	case !going.open: // a piece of a line is known to the history
		start, missing := back(going.data, prefilter.ContextLines)
		first, _ := back(w.tail, missing)
		w.tail = append(append(w.tail[:0], w.tail[first:]...), going.data[start:]...)
	}
}

// keepLast adds to last the bytes of a chunk whose data goes, unless those after it have so many bytes that it is not needed.
func (w *window) keepLast(going recentChunk, after int) {
	if after >= tailBytes {
		w.last = w.last[:0]
		return
	}
	w.last = append(w.last, going.data[max(0, len(going.data)-tailBytes):]...)
	if len(w.last) > 2*tailBytes {
		w.last = append(w.last[:0], w.last[len(w.last)-tailBytes:]...)
	}
}

// lines are the last lines before the one that is being read. Those that came in pieces have been read: their place is enough.
func (w *window) lines() rawLines {
	var lines [][]byte
	for raw := range bytes.Lines(slices.Concat(w.parts()...)) {
		lines = append(lines, bytes.TrimSuffix(raw, []byte{'\n'}))
	}
	return rawLines{w.number - len(lines), lines}
}

// size is how many bytes the last lines have.
func (w *window) size() (bytes int) {
	for _, part := range w.parts() {
		bytes += len(part)
	}
	return bytes
}

// parts are the last lines where they are.
func (w *window) parts() [][]byte {
	parts := [][]byte{w.tail, nil, nil, w.data[:w.at]}
	for i, chunk := range w.recent {
		if !chunk.open {
			parts[1+i] = chunk.data
		}
	}
	for i, missing := len(parts)-1, prefilter.ContextLines; i >= 0; i-- {
		start, still := back(parts[i], missing)
		parts[i], missing = parts[i][start:], still
	}
	return parts
}

// lastBytes are the last bytes of the source when it has been left: tailBytes of them or more, or all.
func (w *window) lastBytes() []byte { return slices.Concat(w.last, w.recent[0].data, w.recent[1].data) }

// rawLines are lines that follow each other, without their line breaks, in memory of their own.
type rawLines struct {
	first int // number of the first
	lines [][]byte
}

func (r rawLines) at(number int) (raw []byte, ok bool) {
	if i := number - r.first; i >= 0 && i < len(r.lines) {
		return r.lines[i], true
	}
	return nil, false
}

// back is where the last n lines of data begin, and how many of them it lacks.
func back(data []byte, n int) (start, missing int) {
	start = len(data)
	for ; n > 0 && start > 0; n-- {
		start = bytes.LastIndexByte(data[:start-1], '\n') + 1
	}
	return start, n
}
