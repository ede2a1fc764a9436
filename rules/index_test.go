package rules

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
	"github.com/gpu-triage/triage/rules/xid"
)

var write = flag.Bool("write", false, "write index.tsv for the rule files as they are")

//go:generate go test -run ^TestIndex$ -write .

// TestIndex compares what the index says of each file that it knows with what stands there.
func TestIndex(t *testing.T) {
	want := indexAll(t)
	if *write {
		if err := os.WriteFile("index.tsv", []byte(encodeIndex(t, want)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	known, err := readIndex(shippedIndex)
	if err != nil {
		t.Fatal(err)
	}
	old := 0
	for _, k := range want {
		switch got := known.files[k.File]; {
		case got == nil || got.Sum != k.Sum:
			old++
		default:
			if diff := cmp.Diff(k, got, cmp.AllowUnexported(indexed{}), cmpopts.IgnoreUnexported(signature.Entry{})); diff != "" {
				t.Errorf("the index is wrong about %s; go generate ./rules makes it anew\n-want +got:\n%s", k.File, diff)
			}
		}
	}
	// A few that it does not know are all right: they take a moment at every start, until somebody makes it anew.
	if most := len(want) / 10; old > most {
		t.Errorf("the index knows %d of %d files, which makes every start slow; go generate ./rules makes it anew", len(want)-old, len(want))
	}
}

// TestOpen: what is read later changes nothing that diagnoses share, and is what would have been read at first.
func TestOpen(t *testing.T) {
	all, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	base, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	names := sortedNames(base)
	for i, s := range base.Signatures() {
		want := all.Entries[i].Signature()
		if s.ID != want.ID || s.Family != want.Family || s.Title != want.Title || len(s.Match) != len(want.Match) || s.Place != want.Place {
			t.Errorf("%s (%s) is not %s (%s)", s.ID, s.Place.File, want.ID, want.Place.File)
		}
	}
	if diff := cmp.Diff(names, sortedNames(base)); diff != "" || len(base.Scope.LogPatterns()) != len(all.Scope.LogPatterns()) {
		t.Errorf("reading the signatures added names: -before +after:\n%s", diff)
	}
	if diff := cmp.Diff(sortedNames(all), names); diff != "" {
		t.Errorf("-loaded +opened:\n%s", diff)
	}
}

func sortedNames(b *Base) []string { return slices.Sorted(slices.Values(b.Scope.Names())) }

// TestOutdatedIndex: a line that was made of something else is not believed, and a file without a line is read.
func TestOutdatedIndex(t *testing.T) {
	const id = "flash-attn-softcap-missing"
	now, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, outdate := range map[string]func(*indexed){
		"another sum": func(k *indexed) { k.Sum++ },
		"no line":     func(k *indexed) { k.File = "moved.yaml" },
	} {
		t.Run(name, func(t *testing.T) {
			all := indexAll(t)
			for _, k := range all {
				if k.ID == id {
					outdate(k)
					k.Keywords = []string{"outdated"}
				}
			}
			base, err := load(encodeIndex(t, all), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(now.Signature(id).Keywords, base.Signature(id).Keywords); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, e := range base.Entries {
				if slices.Contains(e.Keywords, "outdated") {
					t.Errorf("the entry of %s is what the index says", e.ID)
				}
			}
		})
	}
}

// indexAll is what the index should say.
func indexAll(t *testing.T) []*indexed {
	t.Helper()
	base, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	sums := &index{}
	of := func(file string) *indexed {
		content, err := fs.ReadFile(Shipped(), file)
		if err != nil {
			t.Fatal(err)
		}
		knowledge, _ := signature.CutExamples(content)
		k := &indexed{File: file, Size: int64(len(knowledge))}
		k.Sum, err = sums.sum(Shipped(), file, k.Size)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	all := []*indexed{of(fact.FileName)}
	all[0].Facts = shippedFacts(t)
	sums.readWith(base.Vocabulary)
	xids := of(xid.File)
	xids.Keywords = []string{base.Xids.Keyword()}
	all = append(all, xids)
	for _, e := range base.Entries {
		k := of(e.Signature().Place.File)
		known, err := signature.Know(base.Vocabulary, Shipped(), k.File)
		if err != nil {
			t.Fatal(err)
		}
		k.Known = *known
		all = append(all, k)
	}
	return all
}

// shippedFacts is what stands in the shipped file of facts.
func shippedFacts(t *testing.T) *fact.File {
	t.Helper()
	content, err := fs.ReadFile(Shipped(), fact.FileName)
	if err != nil {
		t.Fatal(err)
	}
	d := &rulefile.Decoder{File: fact.FileName}
	file, _ := rulefile.Read[fact.File](d, content)
	if len(d.Problems) > 0 {
		t.Fatal(d.Problems)
	}
	return &file
}

// encodeIndex writes a line for each file, so that changes of different files do not meet.
func encodeIndex(t *testing.T, all []*indexed) string {
	t.Helper()
	var b strings.Builder
	for _, k := range all {
		var facts []byte
		if k.Facts != nil {
			var err error
			if facts, err = json.Marshal(k.Facts); err != nil {
				t.Fatal(err)
			}
		}
		var flags []string
		if k.Before {
			flags = append(flags, beforeFlag)
		}
		if k.Raised {
			flags = append(flags, raisedFlag)
		}
		fields := make([]string, columns)
		for column, field := range map[int]string{
			fileColumn: k.File, sumColumn: strconv.FormatUint(uint64(k.Sum), 16), sizeColumn: strconv.FormatInt(k.Size, 10),
			idColumn: k.ID, roleColumn: string(k.Role), aboutColumn: k.About, factsColumn: string(facts),
			keywordsColumn: listField(k.Keywords), lastColumn: listField(k.Last), requiresColumn: listField(k.Requires),
			explainsColumn: listField(k.Explains), overridesColumn: listField(k.Overrides), flagsColumn: listField(flags),
			namesColumn: listField(k.Names), logPatternsColumn: listField(k.LogPatterns),
		} {
			fields[column] = field
		}
		b.WriteString(strings.Join(fields, "\t") + "\n")
	}
	return b.String()
}

// listField is what listOf reads.
func listField(items []string) string {
	written := make([]string, len(items))
	for i, item := range items {
		if item == "" || strings.HasPrefix(item, `"`) || strings.ContainsFunc(item, unicode.IsControl) {
			item = strconv.Quote(item)
		}
		written[i] = item
	}
	return strings.Join(written, listSeparator)
}

// TestListOf: a list has the texts that were written, whatever they hold.
func TestListOf(t *testing.T) {
	for _, want := range [][]string{nil, {""}, {"a"}, {"a b", `"quoted" text`, "two\nlines", "a\ttab", "a\x1fseparator", "", `back\slash`, `"`}} {
		if diff := cmp.Diff(want, listOf(listField(want))); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}
