package matcher

import (
	"bytes"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/pattern"
)

// The steps of a job are most of the lines of many logs, and reading them all would be most of the work. A sample tells the pace as
// well: some lines in a row, again and again, and the last lines. Which lines that are depends on their numbers and on the bytes at the
// end alone, however a source is read.
const (
	rowLines  = 32          // lines in a row
	maxRows   = 64          // rows, spread evenly over the source: all lines of a source of up to rowLines*maxRows
	lastBytes = 128 << 10   // of the source that are read again when it ends
	maxMarks  = 32 << 10    // lines, or parts of lines with \r, that are remembered while a source is read
	maxMarked = 600         // bytes of the text of each
	clockJump = time.Minute // a clock that goes back by more is not one clock
)

// mark is what is remembered of a line of the sample.
type mark struct {
	step
	line    Line
	raw     bool      // the line has not been cleaned: most that are taken in go again
	wording uint64    // the same for lines that differ only in their numbers
	at      time.Time // its own timestamp or the last before it; zero when there is none
}

// rowStride tells of which rows a line can be: of those whose number is divisible by it.
func rowStride(line int) int {
	stride := 1
	for (line-1)/rowLines >= maxRows*stride {
		stride *= 2
	}
	return stride
}

func sampled(line int) bool { return (line-1)/rowLines%rowStride(line) == 0 }

// nextSampled is the first line of the sample from a line on.
func nextSampled(line int) int {
	if sampled(line) {
		return line
	}
	stride := rowStride(line)
	return ((line-1)/rowLines/stride+1)*stride*rowLines + 1
}

// sample is the sample of the source that is being read.
type sample struct {
	form   *Form
	marks  []mark
	stride int
	closed int // where its last lines begin, which are all in it; 0 as long as they are not
}

// take takes in a line if it is one of the sample.
func (s *sample) take(m mark) {
	if !sampled(m.line.Number) {
		return
	}
	if stride := rowStride(m.line.Number); stride > s.stride {
		s.thin(stride)
	}
	s.add(m)
}

// wordingOf is the same for lines that differ only in their numbers, however many digits these have.
func wordingOf(text string) uint64 {
	var b strings.Builder
	withoutNumbers(&b, text)
	h := fnv.New64a()
	h.Write([]byte(b.String()))
	return h.Sum64()
}

func (s *sample) add(m mark) {
	m.clip()
	if len(s.marks) == cap(s.marks) {
		s.marks = slices.Grow(s.marks, len(s.marks)+rowLines) // twice as many: append alone grows in many small steps
	}
	if s.marks = append(s.marks, m); len(s.marks) < maxMarks {
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
	if len(m.line.Text) > maxMarked {
		m.line.Text = strings.Clone(clip(m.line.Text, maxMarked))
	}
}

// clean cleans the line if it has not been.
func (m *mark) clean(form *Form) {
	if !m.raw {
		return
	}
	form.Clean(m.line.Number, []byte(m.line.Text), func(line Line) error { //nolint:errcheck // nothing fails
		m.line, m.raw = line, false
		return nil
	})
	m.clip()
}

// thin leaves the rows whose number is divisible by stride.
func (s *sample) thin(stride int) {
	s.stride = stride
	s.marks = slices.DeleteFunc(s.marks, func(m mark) bool { return (m.line.Number-1)/rowLines%stride != 0 })
}

// takeLast takes in the last lines of a source of which data are the last bytes: all that it has, or at least lastBytes of them.
func (s *sample) takeLast(form *Form, data []byte, bytesInAll int64, lines int) {
	if rowStride(lines) == 1 {
		return // all lines were taken in
	}
	if bytesInAll > lastBytes {
		data = data[len(data)-lastBytes:]
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
		form.Clean(number, bytes.TrimSuffix(raw, []byte{'\n'}), func(line Line) error { //nolint:errcheck // nothing fails
			s.add(mark{line: line})
			return nil
		})
		number++
	}
}

// clock gives all marks a time, the last that was told before them. It tells whether they have one clock, which goes forward.
func (s *sample) clock() bool {
	var now time.Time
	for i := range s.marks {
		t := s.marks[i].line.Time
		if t.IsZero() {
			t = timeIn(s.marks[i].line.Text, now)
			s.marks[i].line.Time = t
		}
		switch {
		case t.IsZero():
		case !now.IsZero() && !comparable(now, t), t.Before(now.Add(-clockJump)):
			return false
		case t.After(now):
			now = t
		}
		s.marks[i].at = now
	}
	return !now.IsZero()
}

// innerStamp is a time that stands in the text of a line: of a loop that prints its own, or as a scheduler says when it ended a job.
var innerStamp = pattern.Lazy(stampPattern)

const stampReach = 100 // bytes of a line in which it stands

// timeIn is the time in a text, if it can be that of the line: not before what the clock showed last.
func timeIn(text string, now time.Time) time.Time {
	if text = clip(text, stampReach); !hasClock(text) { // most lines have none, and this is how to see it soon
		return time.Time{}
	}
	t := parseTime(innerStamp().FindString(text))
	if t.Before(now) || !now.IsZero() && !comparable(now, t) {
		return time.Time{}
	}
	return t
}

// hasClock tells whether hours, minutes and seconds stand in a text.
func hasClock(text string) bool {
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], ':')
		if n < 0 || i+n+3 >= len(text) {
			return false
		}
		if i += n; text[i+3] == ':' && isDigit(text[i+1]) && isDigit(text[i+2]) {
			return true
		}
	}
}

// each calls f with every mark, with many of them at once.
func (s *sample) each(f func(*mark)) {
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

// sum ends the sample of a source that has so many lines, and is what it shows of the steps; nil when it shows none. Each of its lines
// is given to also.
func (s *sample) sum(lines int, steps *stepReader, situation *condition.Situation, also func(Line)) *pace {
	if s.closed == 0 {
		s.thin(rowStride(max(lines, 1)))
	}
	s.each(func(m *mark) {
		m.clean(s.form)
		m.wording = wordingOf(m.line.Text)
	})
	readers := make(map[uint64][]reader) // lines that differ only in their numbers have the same
	for i := range s.marks {
		m := &s.marks[i]
		also(m.line)
		if _, known := readers[m.wording]; !known {
			readers[m.wording] = steps.of(&m.line, situation)
		}
	}
	s.each(func(m *mark) { m.step = stepIn(m.line.Text, readers[m.wording]) })
	p := s.close()
	clear(s.marks)
	*s = sample{marks: s.marks[:0]} // their memory is for the next source
	return p
}
