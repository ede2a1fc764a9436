package diagnosis_test

import (
	"fmt"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/history"
)

// askingHistory knows one signature, which asks about the name that stands behind "has not the name " and says the cause.
func askingHistory(t *testing.T, match, cause string) *matcher.Engine {
	return knowing(t, `id: lacking
title: lacking
keywords: ["has not the name "]
match: [`+match+`]
capture: ['has not the name (?P<name>[\w.]+)']
history: ["{name}"]
cause: `+cause+`
fixes: [{do: x}]
references: [x]
`)
}

// A name that no release has is told from one that came or went, and from one that a release newer than the table may have.
func TestNameOfNoRelease(t *testing.T) {
	engine := askingHistory(t, `'history.change == "never"'`, "x")
	for _, c := range []struct {
		name, installed string
		want            int
	}{
		{"einops.einops.fold_twice", "", 1},
		{"einops.einops.fold_twice", "0.6.0", 1},
		{"einops.einops.fold_twice", "99.0", 0}, // newer than the table
		{"einops.einops.rearrange", "", 0},      // all releases have it
		{"einops.pack", "", 0},                  // came with a release
		{"einops.no_such_place.fold", "", 0},    // the place is missing, and nothing is known of what would be in it
		{"nobody_covers_this.fold", "", 0},
		{"layers.fold_twice", "", 0}, // einops.layers may be meant, or anything else
	} {
		known := installed(t, "einops", c.installed)
		if got := len(answer(t, engine, "the package has not the name "+c.name+"\n", known...).Diagnoses); got != c.want {
			t.Errorf("%s with einops %q: %d diagnoses, want %d", c.name, c.installed, got, c.want)
		}
	}
}

// installed is what a user says who names the release of a package; nothing for "".
func installed(t *testing.T, name, version string) []facts.Fact {
	t.Helper()
	if version == "" {
		return nil
	}
	v, err := condition.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return []facts.Fact{{Name: name, Value: condition.VersionValue(v), Source: facts.FromUser}}
}

// TestReleasesOfCovered holds every package that has a history to a fact that tells which release of it is installed.
func TestReleasesOfCovered(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range history.Covered() {
		if _, ok := base.Vocabulary.Package(d); !ok {
			t.Errorf("%s has no fact in rules/facts.yaml", d)
		}
	}
}

// The release to install is of the line in which a name came, and for a name that left the last one that had it.
func TestReleaseToInstall(t *testing.T) {
	engine := askingHistory(t, `'history != nil'`, `"{history.pin}"`)
	for name, want := range map[string]string{
		"einops.pack": "0.6.1", // came with 0.6.0, before 0.7 and 0.8
		"transformers.Qwen2VLForConditionalGeneration": "4.57.6", // came with 4.45.0, before 5.0
		"transformers.AdamW":                           "4.49.0", // left with 4.50
	} {
		if got := answer(t, engine, "the package has not the name "+name+"\n").Diagnoses[0].Cause; got != want {
			t.Errorf("for %s it is %s, want %s", name, got, want)
		}
	}
}

// The release to install is of the time of the package that asks, where its release is known.
func TestReleaseOfTheTime(t *testing.T) {
	engine := askingHistory(t, `'error.name == "ImportError"', 'history != nil'`, `"{history.pin}"`)
	const frame = "Traceback (most recent call last):\n  File \"/opt/v/lib/python3.9/site-packages/flax/core/x.py\", line 30, in f\n    g()\n"
	for _, c := range []struct{ flax, name, want string }{
		{"", "jax.tree_map", "0.5.3"},
		{"0.7.0", "jax.tree_map", "0.4.14"},                                  // July 2023
		{"0.6.5", "jax.tree_map", "0.4.8"},                                   // which is not kept: as the next one
		{"0.7.0", "jax.tree_util.register_pytree_with_keys_class", "0.4.14"}, // came with 0.4.6
		{"0.0.1", "jax.tree_util.register_pytree_with_keys_class", "0.4.38"}, // before it came: of the line in which it did
	} {
		known := installed(t, "flax", c.flax)
		got := answer(t, engine, frame+"ImportError: the package has not the name "+c.name+"\n", known...).Diagnoses[0].Cause
		if got != c.want {
			t.Errorf("for %s with flax %q it is %s, want %s", c.name, c.flax, got, c.want)
		}
	}
}

// An environment of another Python is offered where the release to install is older than the Python that is there.
func TestPythonOfTheTime(t *testing.T) {
	engine := askingHistory(t, `'history != nil'`, `"{history.pin_python|none}"`)
	for python, want := range map[string]string{
		"":        "none",
		"3.12.3":  "3.8", // gensim 3.8.3 is of May 2020
		"3.8":     "none",
		"3.6.9":   "none",
		"99.99.9": "none", // newer than the table
	} {
		known := installed(t, "python", python)
		if got := answer(t, engine, "the package has not the name gensim.summarization\n", known...).Diagnoses[0].Cause; got != want {
			t.Errorf("with Python %q it is %s, want %s", python, got, want)
		}
	}
}

// A newer Python is named where no release with the name runs on the one that is there.
func TestNeededPython(t *testing.T) {
	engine := askingHistory(t, `'history != nil'`, `"{history.needs_python|none}"`)
	for python, want := range map[string]string{
		"":      "none",
		"3.6":   "3.7", // Transformers 4.19, which brought OPT, needs 3.7
		"3.7.9": "none",
	} {
		known := installed(t, "python", python)
		if got := answer(t, engine, "the package has not the name transformers.OPTForCausalLM\n", known...).Diagnoses[0].Cause; got != want {
			t.Errorf("with Python %q it is %s, want %s", python, got, want)
		}
	}
}

// An upgrade of the package that asks helps only where its newest release no longer does.
func TestAskedStill(t *testing.T) {
	engine := askingHistory(t, `'error.name == "ImportError"', history.asked_still`, `x`)
	const log = "Traceback (most recent call last):\n  File \"/opt/v/lib/python3.9/site-packages/%s/x.py\", line 30, in f\n    g()\nImportError: the package has not the name %s\n"
	for name, want := range map[[2]string]int{
		{"basicsr", "torchvision.transforms.functional_tensor.rgb_to_grayscale"}: 1,
		{"flax", "jax.linear_util"}: 0, // its releases of these years do without
	} {
		if got := len(answer(t, engine, fmt.Sprintf(log, name[0], name[1])).Diagnoses); got != want {
			t.Errorf("%s of %s: %d diagnoses, want %d", name[1], name[0], got, want)
		}
	}
}

// A name is fresh in the line of releases that brought it, and the line after the installed one is told by its last release.
func TestFreshName(t *testing.T) {
	engine := askingHistory(t, `'history != nil'`, `"{history.fresh}, then {history.next|none}"`)
	for version, want := range map[string]string{
		"4.29.1": "true, then 4.30.2", // it came with 4.29.0
		"4.31.0": "false, then 4.32.1",
		"4.28.1": "false, then 4.29.2",
		"99.0":   "false, then none",
	} {
		known := installed(t, "transformers", version)
		got := answer(t, engine, "the package has not the name transformers.TrainingArguments.distributed_state\n", known...).Diagnoses[0].Cause
		if got != want {
			t.Errorf("with %s it is %q, want %q", version, got, want)
		}
	}
}
