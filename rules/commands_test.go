package rules_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/command"
	"github.com/gpu-triage/triage/rules/condition"
	"mvdan.cc/sh/v3/syntax"
)

// hostile are values that would be commands of their own where nobody quotes them.
var hostile = []string{
	"/data/$(touch pwned)/a.bin", "`id`", "foo; curl evil", "a && id", "a | sh", "a & id", "a > /etc/x", "<(id)", "$HOME", "${IFS}", "a b", "*", "~root", "#x",
	"{a,b}", "!!", `\`, `a\`, "'", "a'; id; '", `"; id; "`, `"'; id; '"`, "a\nid", "a\rid", "EOF\nid", "--index-url=http://evil", "-rf", "=ls", "a=b", "$'x'", "\x00", "a\u202eb",
	"git+https://evil.example/x", "it's", "((1))", "[[", "if", "}", "x#y", strings.Repeat("a", 5000),
}

// TestCommandsKeepTheirStructure puts hostile values into every command of every signature and asks a shell's parser whether the
// command is still the same one.
func TestCommandsKeepTheirStructure(t *testing.T) {
	type filled struct {
		where   string
		command condition.Command
	}
	var all []filled
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range base.Entries {
		for _, fix := range e.Signature().Fixes {
			for _, c := range fix.Run {
				if len(c.Template().Names()) > 0 {
					all = append(all, filled{e.ID, c})
				}
			}
		}
	}
	if len(all) < 50 {
		t.Fatalf("only %d commands have places", len(all))
	}
	check := func(value string) {
		for _, f := range all {
			plain, with := f.command.With(condition.StringValue("name1")), f.command.With(condition.StringValue(value))
			if plain == "" {
				t.Errorf("%s: a command does not take even a plain word", f.where)
			}
			if with == "" || f.command.Kind != command.Sh && f.command.Kind != command.Flag {
				continue
			}
			if a, b := structure(plain), structure(with); a != b {
				t.Errorf("%s: %q makes another command: %s", f.where, value, with)
			}
		}
	}
	for _, value := range hostile {
		check(value)
	}
	letters := []rune("ab/.-=$(){}[]`'\"\\;&|<>*?!#~ \n\té")
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		value := make([]rune, 1+random.IntN(12))
		for i := range value {
			value[i] = letters[random.IntN(len(letters))]
		}
		check(string(value))
	}
}

// structure is what a shell would do with a command, without the words that it would do it with.
func structure(text string) string {
	file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case nil:
			b.WriteByte(')')
		case *syntax.Lit, *syntax.SglQuoted:
			b.WriteByte('(')
		case *syntax.Word:
			b.WriteString("(word")
			for _, part := range n.Parts { // what is more than words
				switch part.(type) {
				case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
				default:
					fmt.Fprintf(&b, " %T", part)
				}
			}
		default:
			fmt.Fprintf(&b, "(%T", n)
		}
		return true
	})
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "()", ""), "(*syntax.DblQuoted)", "")
}
