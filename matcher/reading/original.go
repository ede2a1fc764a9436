package reading

import (
	"strings"
	"sync"

	"github.com/gpu-triage/triage/matcher/logline"
)

// originals are the repaired lines of the sources as they stand in these, by the names of the sources.
type originals map[string]*original

// original is the repaired lines of one source. The goroutine that reads it adds to them.
type original struct {
	form *logline.Form

	mutex sync.Mutex
	lines map[int][]string // by number
	room  int              // bytes of further lines
}

const (
	maxOriginal  = 4 << 20 // bytes of lines that are kept of a source
	maxOriginals = 32      // sources of which they are kept
)

// of is what is kept of a source.
func (o originals) of(name string, form *logline.Form) *original {
	one := &original{form: form, lines: make(map[int][]string), room: maxOriginal}
	if len(o) < maxOriginals {
		o[name] = one
	}
	return one
}

// keep keeps a line.
func (o *original) keep(number int, lines []string) {
	text := strings.Join(lines, "\n")
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.room -= len(text)
	if o.room > 0 {
		o.lines[number] = strings.Split(text, "\n")
	}
}

// Original is a line that was repaired as it stands in its source, in several lines perhaps, and a sentence with what it quotes. It is nil
// for any other line.
func (r *Result) Original(line logline.Line) []logline.Line {
	one := r.originals[line.Source]
	if one == nil {
		return nil
	}
	one.mutex.Lock()
	defer one.mutex.Unlock()
	var lines []logline.Line
	for i, raw := range one.lines[line.Number] {
		part := line
		part.Number = line.Number + i
		var pieces []string
		one.form.Clean(part.Number, []byte(raw), func(cleaned logline.Line) error { //nolint:errcheck // nothing fails
			if cleaned.Text != "" {
				pieces = append(pieces, cleaned.Text)
			}
			return nil
		})
		part.Text = strings.Join(pieces, " ")
		lines = append(lines, part)
	}
	return lines
}
