package diagnosis

import (
	"slices"
	"testing"

	"github.com/gpu-triage/triage/matcher/reading"
)

// TestCommandLines: command lines are found as people and shells write them, and what only looks so is none.
func TestCommandLines(t *testing.T) {
	for text, want := range map[string][]string{
		"$ python train.py --n-ctx 4 -b 2\n":            {"n_ctx", "b"},
		"I run `serve start --ngl 1` and get this\n":    {"ngl"},
		"srun --gpus 8 \\\n  python a.py --lr=1e-3\n":   {"gpus", "lr"},
		"usage: a.py [-h] [--lr LR]\n":                  nil,
		"a.py: error: unrecognized arguments: --fast\n": nil,
		"  --lr LR  the learning rate\n":                nil,
		"a well-known state-of-the-art model\n":         nil,
	} {
		members := commandLines([]reading.Head{{Text: text}}).Member("options")
		var got []string
		for _, item := range members.Items() {
			got = append(got, item.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: the options are %q, not %q", text, got, want)
		}
	}
}
