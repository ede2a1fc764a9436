package reading

import (
	"bytes"
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/prefilter"
	"github.com/gpu-triage/triage/matcher/scan"
)

// recentChunk is what is remembered of a chunk as long as its data is there.
type recentChunk struct {
	data  []byte
	lines int64
	open  bool   // data is a piece of a line, and not its end
	own   []byte // memory for data that is not there for long
}

// remember holds on to the last lines, for those that will ask for what stood before them, and to the last bytes. The data of two
// chunks is still there, so that they are copied only when the chunks are small.
func (f *lineFilter) remember(c *scan.Chunk, passing bool) {
	now := recentChunk{data: c.Data, lines: c.Lines, open: c.Open}
	oldest, between := f.recent[0], f.recent[1]
	if between.lines+now.lines >= prefilter.ContextLines {
		f.tail = f.tail[:0]
	} else if !oldest.open { // a piece of a line is known to the history
		start, missing := back(oldest.data, prefilter.ContextLines)
		first, _ := back(f.tail, missing)
		f.tail = append(append(f.tail[:0], f.tail[first:]...), oldest.data[start:]...)
	}
	if len(between.data)+len(now.data) >= pace.LastBytes {
		f.last = f.last[:0]
	} else if f.last = append(f.last, oldest.data[max(0, len(oldest.data)-pace.LastBytes):]...); len(f.last) > 2*pace.LastBytes {
		f.last = append(f.last[:0], f.last[len(f.last)-pace.LastBytes:]...)
	}
	if now.own = oldest.own; passing {
		now.own = append(now.own[:0], c.Data[max(0, len(c.Data)-pace.LastBytes):]...)
		now.data = now.own
	}
	f.recent = [2]recentChunk{between, now}
}

// past are the last lines before the one that is being read. Those that came in pieces have been read: their place is enough.
func (f *lineFilter) past() rawLines {
	parts := [][]byte{f.tail, nil, nil, f.data[:f.at]}
	for i, chunk := range f.recent {
		if !chunk.open {
			parts[1+i] = chunk.data
		}
	}
	for i, missing := len(parts)-1, prefilter.ContextLines; i >= 0; i-- {
		start, still := back(parts[i], missing)
		parts[i], missing = parts[i][start:], still
	}
	var lines [][]byte
	for raw := range bytes.Lines(slices.Concat(parts...)) {
		lines = append(lines, bytes.TrimSuffix(raw, []byte{'\n'}))
	}
	return rawLines{f.number - len(lines), lines}
}

// reread cleans a line that went by unread.
func (f *lineFilter) reread(number int, raw []byte, briefly bool) pastLine {
	past := pastLine{number: number, brief: briefly && bytes.IndexByte(raw, '\r') < 0}
	if past.brief {
		past.add(pastPart{Line: f.form.Writer(raw), loose: true})
		return past
	}
	f.form.Clean(number, raw, func(line logline.Line) error { //nolint:errcheck // nothing fails
		past.add(pastPart{Line: line, loose: true})
		return nil
	})
	return past
}

// back is where the last n lines of data begin, and how many of them it lacks.
func back(data []byte, n int) (start, missing int) {
	start = len(data)
	for ; n > 0 && start > 0; n-- {
		start = bytes.LastIndexByte(data[:start-1], '\n') + 1
	}
	return start, n
}
