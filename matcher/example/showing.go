package example

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/signature"
)

// maxShown bounds the logs that are shown in all ways, in bytes: what people paste is not larger, and each is read once for each way.
const maxShown = 64 << 10

// Showing is how an answer changed when a log was shown in another way.
type Showing struct {
	Example Example
	Way     string
	Want    string // the root cause as the log stands
	Got     string // the root cause as it was shown, "" when nothing was diagnosed
}

// String tells the change.
func (s Showing) String() string {
	got := s.Got
	if got == "" {
		got = "nothing"
	}
	return fmt.Sprintf("%v: shown as %q, %s is diagnosed instead of %s", s.Example, s.Way, got, s.Want)
}

// CanBeShown tells whether an example is one that people would paste: one log of no great length that states its root cause, which needs
// no facts beside it. What only a generic signature knows, or one that reads a message, hangs on the very form of a traceback.
func (e Example) CanBeShown(engine *matcher.Engine) bool {
	if len(e.Want) == 0 || len(e.Facts) > 0 || len(e.logs) != 1 || len(e.logs[0].content) > maxShown || bytes.IndexByte(e.logs[0].content, 0) >= 0 {
		return false
	}
	known := engine.Base().Signature(e.Want[0].ID)
	if known == nil || known.Role == signature.Message || known.Role.LastResort() {
		return false
	}
	return e.Want[0].Certainty != report.Unexplained
}

// Show diagnoses an example in each of the ways, and gives those in which the root cause is not the one that it is as the log stands.
func Show(ctx context.Context, engine *matcher.Engine, e Example, ways []Way) (lost []Showing, err error) {
	want, err := rootOf(ctx, engine, e)
	if err != nil || want == nil {
		return nil, err
	}
	for _, way := range ways {
		shown := e
		shown.logs = []exampleLog{{e.logs[0].name, []byte(way.Show(string(e.logs[0].content)))}}
		got, err := rootOf(ctx, engine, shown)
		switch {
		case err != nil:
			return nil, err
		case got == nil && way.Part && !states(shown, want):
		case got == nil:
			lost = append(lost, Showing{e, way.Name, want.ID, ""})
		case got.ID != want.ID && !(way.Part && (!states(shown, want) || named(engine, got))):
			lost = append(lost, Showing{e, way.Name, want.ID, got.ID})
		}
	}
	return lost, nil
}

// states tells whether the line that names a root cause stands in what is shown of a log.
func states(shown Example, root *report.Diagnosis) bool {
	return bytes.Contains(shown.logs[0].content, []byte(root.Evidence[0].Text))
}

// named tells whether a diagnosis names a cause: what is left of a log may tell of no more than how it ended.
func named(engine *matcher.Engine, got *report.Diagnosis) bool {
	s := engine.Base().Signature(got.ID)
	return s != nil && s.Role == signature.Cause
}

// rootOf is what an example is diagnosed as, nil when it is nothing.
func rootOf(ctx context.Context, engine *matcher.Engine, e Example) (*report.Diagnosis, error) {
	answer, err := diagnose(ctx, engine, e)
	if err != nil || len(answer.Diagnoses) == 0 {
		return nil, err
	}
	return &answer.Diagnoses[0], nil
}
