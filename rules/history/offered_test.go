package history

import (
	_ "embed" // for the modules below the tops of packages
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/rules/history/table"
)

var write = flag.Bool("write", false, "write offered.tsv and parameters.tsv for the tables as they are")

//go:generate go test -run ^Test(Offered|Parameters)$ -write .

//go:embed submodules.txt
var submodulesText string

// TestOffered compares the names that packages are said to offer with their tables.
func TestOffered(t *testing.T) {
	want := offered(t)
	if *write {
		if err := os.WriteFile("offered.tsv", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != offeredText {
		t.Errorf("offered.tsv is not of these tables; go generate ./rules/history makes it anew\n-want +got:\n%s",
			cmp.Diff(strings.Split(want, "\n"), strings.Split(offeredText, "\n")))
	}
}

// offered is what offered.tsv should hold.
func offered(t *testing.T) string {
	t.Helper()
	tops, modules := make(map[string][]string), make(map[string][]string)
	add := func(to map[string][]string, p *Package, module, holder string) {
		for _, name := range p.reachable(module) {
			if !strings.Contains(name, ".") { // nor the members of classes
				to[name] = append(to[name], holder)
			}
		}
	}
	for _, d := range Listed() {
		if !d.Apart {
			p := opened(t, d.Name)
			add(tops, p, p.table.Roots[0], d.Name)
		}
	}
	for _, row := range rows(submodulesText) {
		add(modules, opened(t, row[0]), row[0], row[0])
	}
	var lines []string
	for name, distributions := range tops {
		lines = append(lines, name+"\t"+strings.Join(distributions, " ")+"\t"+strings.Join(modules[name], " ")+"\n")
	}
	for name, in := range modules {
		if tops[name] == nil {
			lines = append(lines, name+"\t\t"+strings.Join(in, " ")+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func opened(t *testing.T, name string) *Package {
	t.Helper()
	p, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// maxStars is how far the names of a module are looked for in modules of which it imports all.
const maxStars = 3

// reachable are what a module has in some release, by itself or from another one of its package of which it imports all, each once; none
// when there is no such module.
func (p *Package) reachable(module string) []string {
	all := make(map[string]bool)
	p.addReachable(all, module, 0)
	return slices.Sorted(maps.Keys(all))
}

func (p *Package) addReachable(all map[string]bool, module string, stars int) {
	for _, name := range p.names(module) {
		all[name] = true
	}
	m, err := p.table.Module(module)
	if err != nil || m == nil || stars == maxStars {
		return
	}
	for _, e := range m.Entries {
		if e.Kind == table.Star {
			p.addReachable(all, e.Arg, stars+1)
		}
	}
}

// names are what a module itself has in some release and does not only import from another package, each once; none when there is no such
// module.
func (p *Package) names(module string) (all []string) {
	m, err := p.table.Module(module)
	if err != nil || m == nil {
		return nil
	}
	for _, e := range m.Entries { // sorted by their names
		foreign := e.Kind == table.Import && !p.has(e.Arg)
		if e.Name != "" && !foreign && (len(all) == 0 || all[len(all)-1] != e.Name) {
			all = append(all, e.Name)
		}
	}
	return all
}

// has tells whether a module, or a name of one as in "module:name", is below the package.
func (p *Package) has(dotted string) bool {
	root, _, _ := strings.Cut(strings.ReplaceAll(dotted, ":", "."), ".")
	return slices.Contains(p.table.Roots, root)
}

// TestInSubmodules finds a class below the top of its package, and none by the name of nothing.
func TestInSubmodules(t *testing.T) {
	for name, want := range map[string]string{
		"OneHotEncoder": "sklearn.preprocessing.OneHotEncoder",
		"check_array":   "sklearn.utils.check_array",
		"Upsample":      "torch.nn.Upsample", // from torch.nn.modules, of which torch.nn imports all
		"BrewKettle":    "",
	} {
		got := ""
		if all := InSubmodules(name); len(all) > 0 {
			got = all[0]
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestSubmodulesAreCovered holds the list to modules that the tables have.
func TestSubmodulesAreCovered(t *testing.T) {
	for _, row := range rows(submodulesText) {
		p, err := Open(row[0])
		if err != nil {
			t.Errorf("%s: %v", row[0], err)
			continue
		}
		if len(p.reachable(row[0])) == 0 {
			t.Errorf("%s is no module of %s", row[0], p.Name())
		}
	}
}
