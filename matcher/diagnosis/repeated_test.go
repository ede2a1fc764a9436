package diagnosis_test

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/matchertest"
)

// TestAnnouncedTraceback: the traceback that follows a line which only tells of its exception is what failed.
func TestAnnouncedTraceback(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		line int
	}{
		"announced":     {"job 3: Frontend error: ValueError('bad shard')\n" + matchertest.ValueError, 5},
		"another error": {"job 3: Frontend error: ValueError('bad lid')\n" + matchertest.ValueError, 1},
	} {
		t.Run(name, func(t *testing.T) {
			job := matchertest.Story(t).Begin()
			if err := job.Read(t.Context(), "log", strings.NewReader(c.log)); err != nil {
				t.Fatal(err)
			}
			found := job.Report().Diagnoses
			if len(found) == 0 || len(found[0].Evidence) == 0 || found[0].Evidence[0].Line != c.line {
				t.Errorf("the answer shows %v, not line %d", found, c.line)
			}
		})
	}
}
