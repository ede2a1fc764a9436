package history

import "testing"

func TestMeant(t *testing.T) {
	for asked, want := range map[string]string{
		"transformers.AutoModelForCasualLM":             "AutoModelForCausalLM", // of a folder that is imported lazily
		"transformers.Qwen9ForCausalLM":                 "",                     // another generation
		"torch.tenosr":                                  "tensor",               // made in C
		"torch.optim.Adam.zerograd":                     "zero_grad",            // of a base
		"torch.utils.data.DataLoader(num_worker=)":      "num_workers",
		"transformers.TrainingArguments(learning_rat=)": "learning_rate", // a dataclass
		"sklearn.model_selection.train_test_split":      "",              // is there
		"transformers.AdamW":                            "",              // was there
		"nobody_covers_this.fold":                       "",
	} {
		name, err := ParseName(asked)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Open(name.Dotted)
		if err != nil {
			if want != "" {
				t.Error(err)
			}
			continue
		}
		if got := p.Meant(name); got != want {
			t.Errorf("%s: meant is %q, want %q", asked, got, want)
		}
	}
}

func TestMeantModule(t *testing.T) {
	for name, want := range map[string]string{
		"matplotlb":   "matplotlib",
		"Pandas":      "pandas",
		"transformer": "", // mostly a module of the project's own
		"Queue":       "", // Python 2 had it
		"models":      "",
	} {
		if got := MeantModule(name); got != want {
			t.Errorf("%s: meant is %q, want %q", name, got, want)
		}
	}
}
