package facts

import (
	"slices"

	"github.com/gpu-triage/triage/matcher/logline"
)

// trails are the lines by which libraries tell how they choose their backends, by library and process.
type SelectionLogs map[trailKey][]string

type trailKey struct{ library, process string }

// Bounds of the lines that are kept; one choice prints some twenty.
const (
	maxTrail     = 200
	maxTrails    = 4096
	maxTrailLine = 16 << 10 // bytes
)

func (t SelectionLogs) Add(library, text string, line logline.Line) {
	key := trailKey{library, line.Process()}
	lines := t[key]
	if lines == nil && len(t) >= maxTrails || len(lines) > 0 && lines[len(lines)-1] == text {
		return // a line that holds two keywords is told twice
	}
	if len(lines) == maxTrail {
		lines = slices.Delete(lines, 0, 1)
	}
	t[key] = append(lines, logline.Clip(text, maxTrailLine))
}

// of are the lines of a process, or of the only process that left some.
func (t SelectionLogs) Of(library, process string) []string {
	if lines := t[trailKey{library, process}]; lines != nil {
		return lines
	}
	var only []string
	for key, lines := range t {
		if key.library == library {
			if only != nil {
				return nil
			}
			only = lines
		}
	}
	return only
}
