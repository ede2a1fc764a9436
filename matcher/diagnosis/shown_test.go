package diagnosis

import (
	"slices"
	"testing"

	"github.com/gpu-triage/triage/matcher/reading"
)

// A package is shown where it is used, and not where its name is a word.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		text, distribution string
		want               bool
	}{
		{"from datasets import load_dataset\n", "datasets", true},
		{">>> import sklearn\n", "scikit-learn", true},
		{"pip install -U datasets\n", "datasets", true},
		{"  File \"/v/lib/python3.9/site-packages/datasets/load.py\", line 3, in f\n", "datasets", true},
		{"datasets                 2.14.0\n", "datasets", true},
		{"- `datasets` version: 2.14.0\n", "datasets", true},
		{"datasets>=2.0\n", "datasets", true},
		{"I use PyTorch Lightning for it.\n", "pytorch-lightning", true},
		{"I have two datasets, of 3 files each.\n", "datasets", false},
		{"from mydatasets import load\n", "datasets", false},
		{"File \"/home/ana/datasets/load.py\"\n", "datasets", false},
	} {
		s := shown{heads: []reading.Head{{Text: c.text}}, named: make(map[string]bool)}
		if got := s.names(c.distribution); got != c.want {
			t.Errorf("%q shows %s: %v", c.text, c.distribution, got)
		}
	}
}

// The names of code in sentences are read, and nothing of what was printed or is code.
func TestWords(t *testing.T) {
	const text = "Is `Loop.init_class` called? I see no call of boil_water(cls), 调用init_kettle(x)\n```\nprint(not_this_one(1))\n```\n" +
		"  File \"a.py\", line 3, in nor_this(x)\n    nor_that(x)\n"
	s := shown{heads: []reading.Head{{Text: text, Asking: true}, {Text: "of_no_person(x)"}}}
	if got, want := s.words(), []string{"init_class", "boil_water", "init_kettle"}; !slices.Equal(got, want) {
		t.Errorf("words are %q, want %q", got, want)
	}
}
