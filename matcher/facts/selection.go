package facts

import (
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
)

// SelectionLogs are the lines by which libraries tell how they choose their backends, by library and process.
type SelectionLogs map[selectionKey][]string

type selectionKey struct{ library, process string }

// Bounds of the lines that are kept; one choice prints some twenty.
const (
	maxSelectionLines = 200      // of one process, the last ones
	maxSelectionLogs  = 4096     // of all processes and libraries
	maxSelectionLine  = 16 << 10 // bytes
)

// Add keeps a line for its library and process.
func (s SelectionLogs) Add(library, text string, line logline.Line) {
	key := selectionKey{library, line.Process()}
	lines := s[key]
	if lines == nil && len(s) >= maxSelectionLogs || len(lines) > 0 && lines[len(lines)-1] == text {
		return // a line that holds two keywords is told twice
	}
	if len(lines) == maxSelectionLines {
		lines = slices.Delete(lines, 0, 1)
	}
	s[key] = append(lines, logline.ClipWord(text, maxSelectionLine))
}

// Of are the lines of a process, or of the only process that left some.
func (s SelectionLogs) Of(library, process string) []string {
	if lines := s[selectionKey{library, process}]; lines != nil {
		return lines
	}
	var only []string
	for key, lines := range s {
		if key.library == library {
			if only != nil {
				return nil
			}
			only = lines
		}
	}
	return only
}
