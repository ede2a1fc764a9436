package history

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/rules/history/table"
)

// maxTaking is how many distributions may have a parameter that still tells something.
const maxTaking = 6

// TestParameters compares the parameters that are said to have come or gone with the tables.
func TestParameters(t *testing.T) {
	want := changed(t)
	if *write {
		if err := os.WriteFile("parameters.tsv", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != parametersText {
		t.Error("parameters.tsv is not of these tables; go generate ./rules/history makes it anew")
	}
}

// changed is what parameters.tsv should hold.
func changed(t *testing.T) string {
	t.Helper()
	taking := make(map[string][]string)
	for _, d := range Listed() {
		p := opened(t, d.Name)
		if p.Name() == Python {
			continue
		}
		for parameter := range p.changing(t) {
			taking[parameter] = append(taking[parameter], d.Name)
		}
	}
	var lines []string
	for parameter, distributions := range taking {
		if len(distributions) <= maxTaking {
			lines = append(lines, parameter+"\t"+strings.Join(distributions, " ")+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// changing are the parameters that a function of the package takes in some releases and not in others that have the function, without those of
// functions that are private or test something.
func (p *Package) changing(t *testing.T) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, name := range p.table.ModuleNames() {
		if strings.Contains(name, ".test") {
			continue
		}
		m, err := p.table.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		functions := make(map[string][]table.Entry)
		classes := make(map[string][]table.Entry)
		for _, e := range m.Entries {
			switch e.Kind {
			case table.Function, table.Member:
				if _, own, _ := cutLast(e.Name); !strings.HasPrefix(own, "_") || strings.HasPrefix(own, "__") {
					functions[e.Name] = append(functions[e.Name], e)
				}
			case table.Class:
				classes[e.Name] = append(classes[e.Name], e)
			}
		}
		for _, entries := range functions {
			maps.Copy(all, p.changingIn(entries))
		}
		for _, e := range m.Entries {
			if class, field, ok := cutLast(e.Name); ok && e.Kind == table.Field && p.someLack(classes[class], []table.Entry{e}) {
				all[field] = true
			}
		}
	}
	return all
}

// changingIn are the parameters that some of the releases of a function lack. Private ones and those of one or two letters are left out.
func (p *Package) changingIn(function []table.Entry) map[string]bool {
	by := make(map[string][]table.Entry)
	for _, e := range function {
		for parameter := range strings.SplitSeq(e.Arg, ",") {
			parameter = strings.Trim(parameter, "~=")
			if len(parameter) > 2 && !strings.HasPrefix(parameter, "*") && !strings.HasPrefix(parameter, "_") {
				by[parameter] = append(by[parameter], e)
			}
		}
	}
	changing := make(map[string]bool)
	for parameter, with := range by {
		if p.someLack(function, with) {
			changing[parameter] = true
		}
	}
	return changing
}

// someLack tells whether some release has one of the first records and none of the second ones.
func (p *Package) someLack(all, some []table.Entry) bool {
	for i := range p.table.Releases {
		in := func(e table.Entry) bool { return e.In.Has(i) }
		if slices.ContainsFunc(all, in) && !slices.ContainsFunc(some, in) {
			return true
		}
	}
	return false
}

// TestFunctions finds a function by a parameter alone, by what a message calls it, and nothing by a parameter of nothing.
func TestFunctions(t *testing.T) {
	for _, c := range []struct{ call, parameter, distribution, want string }{
		{"__init__", "row_log_interval", "pytorch-lightning", "pytorch_lightning.Trainer"},
		{"Trainer.__init__", "row_log_interval", "pytorch-lightning", "pytorch_lightning.Trainer"},
		{"train", "verbose_eval", "lightgbm", "lightgbm.train"},
		{"__init__", "evaluation_strategy", "transformers", "transformers.TrainingArguments"}, // a field of a dataclass
		{"brew", "row_log_interval", "pytorch-lightning", ""},
	} {
		if !slices.Contains(Taking(c.parameter), c.distribution) {
			t.Errorf("%s is not known to be of %s, but of %q", c.parameter, c.distribution, Taking(c.parameter))
		}
		got := ""
		if all := opened(t, c.distribution).Functions(c.call, c.parameter); len(all) > 0 {
			got = all[0]
		}
		if got != c.want {
			t.Errorf("%s(%s=) of %s is %q, want %q", c.call, c.parameter, c.distribution, got, c.want)
		}
	}
	if all := Taking("kettle_brew_interval"); len(all) > 0 {
		t.Errorf("a parameter of nothing is of %q", all)
	}
}
