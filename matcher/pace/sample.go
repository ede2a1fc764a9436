package pace

import (
	"bytes"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/condition"
)

// The steps of a job are most of the lines of many logs, and reading them all would be most of the work. A sample tells the pace as
// well: some lines in a row, again and again, and the last lines. Which lines that are depends on their numbers and on the bytes at the
// end alone, however a source is read.
const (
	rowLines  = 32          // lines in a row
	maxRows   = 64          // rows, spread evenly over the source: all lines of a source of up to rowLines*maxRows
	LastBytes = 128 << 10   // of the source that are read again when it ends
	maxMarks  = 32 << 10    // lines, or parts of lines with \r, that are remembered while a source is read
	MaxMarked = 600         // bytes of the text of each
	clockJump = time.Minute // a clock that goes back by more is not one clock
)

// mark is what is remembered of a line of the sample.
type mark struct {
	step
	line     logline.Line
	raw      bool      // the line has not been cleaned: most that are taken in go again
	template uint64    // the same for lines that differ only in their numbers
	at       time.Time // its own timestamp or the last before it; zero when there is none
}

// rowStride tells of which rows a line can be: of those whose number is divisible by it.
func rowStride(line int) int {
	stride := 1
	for (line-1)/rowLines >= maxRows*stride {
		stride *= 2
	}
	return stride
}

// Sampled tells whether the line with that number, from 1, is of the sample, unless it turns out that it is among the last lines.
func Sampled(line int) bool { return (line-1)/rowLines%rowStride(line) == 0 }

// NextSampled is the number of the first line of the sample from a line on.
func NextSampled(line int) int {
	if Sampled(line) {
		return line
	}
	stride := rowStride(line)
	return ((line-1)/rowLines/stride+1)*stride*rowLines + 1
}

// Sample is the sample of the source that is being read.
type Sample struct {
	form   *logline.Form // of the lines that have not been cleaned
	marks  []mark
	stride int // of the rows, as rowStride
	closed int // where its last lines begin, which are all in it; 0 as long as they are not
}

// Begin empties the sample for the next source. Its memory is used again.
func (s *Sample) Begin() {
	clear(s.marks)
	*s = Sample{stride: 1, marks: s.marks[:0]}
}

// Take takes in a line if it is one of the sample.
func (s *Sample) Take(line logline.Line) {
	if Sampled(line.Number) {
		s.take(mark{line: line})
	}
}

// TakeRaw takes in a line of the sample of at most MaxMarked bytes as it stands in a source of that form.
func (s *Sample) TakeRaw(form *logline.Form, number int, text string) {
	s.form = form
	s.take(mark{line: logline.Line{Number: number, Text: text}, raw: true})
}

func (s *Sample) take(m mark) {
	stride := rowStride(m.line.Number)
	if stride > s.stride {
		s.thin(stride)
	}
	s.add(m)
}

// templateOf is the same for lines that differ only in their numbers, however many digits these have.
func templateOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(logline.MaskNumbers(text)))
	return h.Sum64()
}

func (s *Sample) add(m mark) {
	m.clip()
	if len(s.marks) == cap(s.marks) {
		s.marks = slices.Grow(s.marks, len(s.marks)+rowLines) // twice as many: append alone grows in many small steps
	}
	s.marks = append(s.marks, m)
	if len(s.marks) < maxMarks {
		return
	}
	kept := s.marks[:0] // every other run of marks, so that those that are left stand together
	for i, m := range s.marks {
		if i/rowLines%2 == 0 {
			kept = append(kept, m)
		}
	}
	clear(s.marks[len(kept):])
	s.marks = kept
}

func (m *mark) clip() {
	if len(m.line.Text) > MaxMarked {
		m.line.Text = strings.Clone(logline.Clip(m.line.Text, MaxMarked))
	}
}

// clean cleans the line if it has not been.
func (m *mark) clean(form *logline.Form) {
	if !m.raw {
		return
	}
	form.Clean(m.line.Number, []byte(m.line.Text), func(line logline.Line) error { //nolint:errcheck // nothing fails
		m.line, m.raw = line, false
		return nil
	})
	m.clip()
}

// thin leaves the rows whose number is divisible by stride.
func (s *Sample) thin(stride int) {
	s.stride = stride
	s.marks = slices.DeleteFunc(s.marks, func(m mark) bool { return (m.line.Number-1)/rowLines%stride != 0 })
}

// TakeLast takes in the last lines of a source of which data are the last bytes: all that it has, or at least LastBytes of them.
func (s *Sample) TakeLast(form *logline.Form, data []byte, bytesInAll int64, lines int) {
	if rowStride(lines) == 1 {
		return // all lines were taken in
	}
	if bytesInAll > LastBytes {
		data = data[len(data)-LastBytes:]
		_, data, _ = bytes.Cut(data, []byte{'\n'})
	}
	number := lines - bytes.Count(data, []byte{'\n'}) + 1
	if len(data) > 0 && data[len(data)-1] != '\n' {
		number--
	}
	s.thin(rowStride(lines))
	s.closed = number
	s.marks = slices.DeleteFunc(s.marks, func(m mark) bool { return m.line.Number >= number })
	for raw := range bytes.Lines(data) {
		form.Clean(number, bytes.TrimSuffix(raw, []byte{'\n'}), func(line logline.Line) error { //nolint:errcheck // nothing fails
			s.add(mark{line: line})
			return nil
		})
		number++
	}
}

// clock gives all marks a time, the last that was told before them. It tells whether they have one clock, which goes forward.
func (s *Sample) clock() bool {
	var now time.Time
	for i := range s.marks {
		t := s.marks[i].line.Time
		if t.IsZero() {
			t = timeIn(s.marks[i].line.Text, now)
			s.marks[i].line.Time = t
		}
		switch {
		case t.IsZero():
		case !now.IsZero() && !logline.SameClock(now, t), t.Before(now.Add(-clockJump)):
			return false
		case t.After(now):
			now = t
		}
		s.marks[i].at = now
	}
	return !now.IsZero()
}

const stampReach = 100 // bytes of a line in which a time stands

// timeIn is the time in a text, of a loop that prints its own, or as a scheduler says when it ended a job; if it can be that of the line:
// not before what the clock showed last.
func timeIn(text string, now time.Time) time.Time {
	t := logline.TimeIn(logline.Clip(text, stampReach))
	if t.Before(now) || !now.IsZero() && !logline.SameClock(now, t) {
		return time.Time{}
	}
	return t
}

// each calls f with every mark, with many of them at once.
func (s *Sample) each(f func(*mark)) {
	var parts sync.WaitGroup
	for part := range slices.Chunk(s.marks, partMarks) {
		parts.Go(func() {
			for i := range part {
				f(&part[i])
			}
		})
	}
	parts.Wait()
}

// partMarks are the marks of one goroutine: enough to be worth one.
const partMarks = 256

// Sum ends the sample of a source that has so many lines, and is what it shows of the steps; nil when it shows none. Each of its lines
// is given to also.
func (s *Sample) Sum(lines int, steps *StepReader, situation *condition.Situation, also func(logline.Line)) *Pace {
	if s.closed == 0 {
		s.thin(rowStride(max(lines, 1)))
	}
	s.each(func(m *mark) {
		m.clean(s.form)
		m.template = templateOf(m.line.Text)
	})
	readers := make(map[uint64][]reader) // lines that differ only in their numbers have the same
	for i := range s.marks {
		m := &s.marks[i]
		also(m.line)
		if _, known := readers[m.template]; !known {
			readers[m.template] = steps.of(&m.line, situation)
		}
	}
	s.each(func(m *mark) { m.step = stepIn(m.line.Text, readers[m.template]) })
	p := s.close()
	s.Begin()
	return p
}
