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

// TestCommandCut: a command of several lines that lacks the mark at the end of one is cut there.
func TestCommandCut(t *testing.T) {
	for text, want := range map[string]string{
		"train.sh \\\n    --a 1 \\\n    --b 2\n    --c 3\n":         "--b 2",
		"train.sh \\\n    --a 1 \\\n    --b 2 \\\n    --c 3\nnow\n": "",
		"train.sh \\\n    --a 1\n\n    --c 3\n":                     "",
		"--a 1\n  --b 2\n  --c 3\n":                                 "",
	} {
		if got := commandLines([]reading.Head{{Text: text}}).Member("cut").String(); got != want {
			t.Errorf("%q: it is cut at %q, not %q", text, got, want)
		}
	}
}
