package compare

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		log  string
		want map[string]string
	}{
		{"+ torchrun train.py --lr 1e-4 --data-path=/d --name 'a b' --fp16\n", map[string]string{"lr": "1e-4", "data_path": "/d", "name": "a b"}},
		{"[rank0]: Namespace(lr=0.1, layers=24, name='x')\n", map[string]string{"lr": "0.1", "layers": "24", "name": "x"}},
		{"  micro_batch_size ................................ 4\n", map[string]string{"micro_batch_size": "4"}},
		{"loading .... done, use --verbose 1 for more\nsee the --lr 1 option\n", nil},
		{"python a.py --lr 1\npython b.py --lr 2\n", map[string]string{"lr": "1"}},
		{"python a.py --lr 1", nil}, // a line that does not end may be cut
		{"Namespace(" + strings.Repeat("(", 10000) + "\n" + strings.Repeat("x", 100000) + "\n", nil},
	} {
		var a Arguments
		read, err := io.ReadAll(a.Reading(strings.NewReader(test.log)))
		if err != nil || string(read) != test.log {
			t.Errorf("the log is not passed on: %v", err)
		}
		if diff := cmp.Diff(test.want, a.values); diff != "" {
			t.Errorf("%.60q: %s", test.log, diff)
		}
	}
}

// Only the beginning of a log is looked at, however long it is and however it comes.
func TestArgumentsAreBounded(t *testing.T) {
	var a Arguments
	log := strings.Repeat("step\n", headBytes/5+1) + "python a.py --late 1\n"
	if _, err := io.Copy(io.Discard, a.Reading(strings.NewReader(log))); err != nil {
		t.Fatal(err)
	}
	if a.values != nil {
		t.Errorf("took %v", a.values)
	}
}

func TestOf(t *testing.T) {
	base, err := rules.Open(rules.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	fact := func(name string, value any) report.FactValue { return report.FactValue{Name: name, Value: value} }
	good := Side{Name: "good.log", Steps: []Steps{{Reached: 1000, Seconds: 0.5}}, Answer: report.Report{Facts: []report.FactValue{
		fact("torch", "2.5.1"), fact("flash_attn", "2.5.8"), fact("sm", 90.0), fact("env.NCCL_DEBUG", "INFO"), fact("rank", 0.0), fact("cuda", "12.4"),
	}}}
	bad := Side{Name: "bad.log", Steps: []Steps{{Reached: 20, Seconds: 0.51}}, Answer: report.Report{
		Facts: []report.FactValue{
			fact("torch", "2.6.0"), fact("flash_attn", "2.6.3"), fact("sm", 90.0), fact("env.NCCL_DEBUG", nil), fact("rank", 3.0), fact("cuda", "12.4.1"), fact("nccl", "2.21.5"),
		},
		Diagnoses: []report.Diagnosis{{ID: "no-such", Title: "It failed", Certainty: report.Likely, Missing: []report.Missing{{Name: "flash_attn"}}}},
	}}
	got, err := Of(base, good, bad)
	if err != nil {
		t.Fatal(err)
	}
	want := Difference{
		Schema: Schema, Good: "good.log", Bad: "bad.log", Failure: &Failure{"no-such", "It failed", report.Likely},
		Differs: []Item{
			{Kind: Version, Name: "flash_attn", Good: "2.5.8", Bad: "2.6.3", Asked: true},
			{Kind: Version, Name: "torch", Good: "2.5.1", Bad: "2.6.0"},
			{Kind: Environment, Name: "env.NCCL_DEBUG", Good: "INFO", Bad: nil},
			{Kind: Pace, Name: "last step", Good: 1000.0, Bad: 20.0},
		},
		OneSide: []Item{{Kind: Version, Name: "nccl", Bad: "2.21.5", Told: "bad"}},
		Equal:   3, // sm, a shorter version, and steps that take about as long
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
