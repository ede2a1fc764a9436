package example_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/example"
	"github.com/gpu-triage/triage/rules"
)

// rivals is an engine that knows several signatures of the same words. Each is written "id role overrides: further conditions", with
// - for none to override.
func rivals(t *testing.T, signatures ...string) *matcher.Engine {
	t.Helper()
	files := fstest.MapFS{"facts.yaml": {Data: []byte("facts: [{name: torch, type: version}]\n")}}
	for _, s := range signatures {
		head, conditions, _ := strings.Cut(s, ": ")
		words := strings.Fields(head)
		text := fmt.Sprintf("id: %s\ntitle: x\nrole: %s\n", words[0], words[1])
		if words[2] != "-" {
			text += fmt.Sprintf("overrides: [%s]\n", words[2])
		}
		text += "keywords: [shard rows]\nmatch:\n  - text contains \"shard rows\"\n"
		for condition := range strings.SplitSeq(conditions, "; ") {
			switch fact, isFact := strings.CutPrefix(condition, "confirm "); {
			case isFact:
				text += fmt.Sprintf("confirm: ['%s']\n", fact)
			case condition != "":
				text += fmt.Sprintf("  - '%s'\n", condition)
			}
		}
		files[words[0]+".yaml"] = &fstest.MapFile{Data: []byte(text + "cause: x\nfixes: [{do: x}]\nreferences: [x]\n")}
	}
	base, err := rules.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return matcher.New(base)
}

const shardLog = "#=source= made up\n#=provenance= written: it is made up here\nthe shard rows differ\n"

func TestPrecedence(t *testing.T) {
	const further = `text contains "differ"`
	for name, c := range map[string]struct {
		signatures []string
		want       string // the answers
	}{
		"the one that overrides":          {[]string{"a cause -: " + further, "b cause a: "}, "b"},
		"through one that does not fit":   {[]string{"a cause -: " + further, `b cause a: text contains "no such"`, "c cause b: "}, "c"},
		"not by one that does not fit":    {[]string{"a cause -: ", `b cause a: text contains "no such"`}, "a"},
		"over certainty, and no second":   {[]string{"a cause -: ", `b cause a: confirm torch > "2"`}, "b"},
		"over roles":                      {[]string{"a cause -: ", "b generic a: "}, "b"},
		"roles over what is asked":        {[]string{"a cause -: ", "b generic -: " + further}, "a"},
		"certainty over what is asked":    {[]string{"a cause -: ", `b cause -: ` + further + `; confirm torch > "2"`}, "a"},
		"what is asked":                   {[]string{"a cause -: ", "b cause -: " + further}, "b"},
		"splitting is not asking":         {[]string{`a cause -: text contains "rows" and ` + further + ` and text contains "the"`, `b cause -: text contains "rows"; ` + further}, "a"},
		"nor is denying":                  {[]string{"a cause -: " + further, `b cause -: not (text contains "x"); not (text contains "y")`}, "a"},
		"each that may be it, best first": {[]string{`a cause -: confirm torch > "2"`, `b cause -: ` + further + `; confirm torch > "3"`}, "b a"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				reading := rivals(t, c.signatures...).Begin()
				if err := reading.Read(context.Background(), "x.log", strings.NewReader(shardLog)); err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, d := range reading.Report().Diagnoses {
					ids = append(ids, d.ID)
				}
				if got := strings.Join(ids, " "); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
				slices.Reverse(c.signatures)
			}
		})
	}
}

// TestAmbiguity: an example whose answer hangs on nothing but the names of two signatures asks for a decision.
func TestAmbiguity(t *testing.T) {
	text := "#=source= made up\n#=provenance= written: it is made up here\n#=match= a confirmed\nthe shard rows differ\n"
	for name, c := range map[string]struct {
		signatures []string
		want       string
	}{
		"undecided": {[]string{"a cause -: ", "b cause -: "}, "a and b fit line 1 equally well: say under overrides: of the one that is right which it overrides"},
		"decided":   {[]string{"a cause b: ", "b cause -: "}, ""},
		"by role":   {[]string{"a cause -: ", "b generic -: "}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			engine := rivals(t, c.signatures...)
			examples, err := example.Load(engine.Base(), nil, fstest.MapFS{"x.log": {Data: []byte(text)}})
			if err != nil {
				t.Fatal(err)
			}
			got := example.Try(context.Background(), engine, examples[0])
			if strings.Join(got, "\n") != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
