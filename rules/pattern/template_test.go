package pattern_test

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/pattern"
)

func TestLineTemplate(t *testing.T) {
	for line, want := range map[string]string{
		"":                             "",
		"step 512 of 1000, loss 0.031": "step 111 of 1111, loss 0.111",
		"0 errors, 00:05:10, 100":      "0 errors, 00:11:11, 111",
		"bf16 P2P mat1_2 3D 2-D":       "bf16 P2P mat1_2 1D 1-D",
		"\t8 (9)":                      "\t1 (1)",
		"75%|███▌ | 3é4 [0é7]":         "11%|███▌ | 1é1 [0é1]",
	} {
		if got, ok := pattern.LineTemplate([]byte("x"), []byte(line)); !ok || string(got) != "x"+want {
			t.Errorf("%q: %q %v, want %q", line, got, ok, want)
		}
	}
	for _, line := range []string{"1\x002", "1\x1b[0m2", "1\xff2", "1\x7f2", "\r"} {
		if got, ok := pattern.LineTemplate(nil, []byte(line)); ok {
			t.Errorf("%q is no text, but has the template %q", line, got)
		}
	}
}

// Lines of all kinds of bytes are told apart as an expression does it.
func TestAnyLineTemplate(t *testing.T) {
	number, text := regexp.MustCompile(`[A-Za-z_]?[0-9]+`), regexp.MustCompile(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
	rnd := rand.New(rand.NewPCG(5, 1))
	refused := 0
	for range 200_000 {
		var line []byte
		for range rnd.IntN(40) {
			switch rnd.IntN(200) {
			case 0:
				line = append(line, byte(rnd.IntN(256)))
			case 1, 2:
				line = utf8.AppendRune(line, rune(rnd.IntN(1<<14)))
			default:
				line = append(line, "0123456789 azAZ_.:/\t~"[rnd.IntN(21)])
			}
		}
		want := number.ReplaceAllStringFunc(string(line), func(run string) string {
			if (run[0] < '0' || run[0] > '9') || strings.Trim(run, "0") == "" {
				return run
			}
			return strings.Repeat("1", len(run))
		})
		got, ok := pattern.LineTemplate(nil, line)
		if ok != (utf8.Valid(line) && text.Match(line)) || ok && string(got) != want {
			t.Fatalf("%q: %q, %v", line, got, ok)
		}
		if !ok {
			refused++
		}
	}
	if refused < 1000 || refused > 100_000 {
		t.Errorf("%d lines were refused", refused)
	}
}

// renumbered is another line of the same template.
func renumbered(rnd *rand.Rand, line string) string {
	template, _ := pattern.LineTemplate(nil, []byte(line))
	other := []byte(line)
	for i, c := range other {
		if '0' <= c && c <= '9' {
			other[i] = byte('0' + rnd.IntN(10))
			if now, _ := pattern.LineTemplate(nil, other); !bytes.Equal(now, template) {
				other[i] = c
			}
		}
	}
	return string(other)
}

// What is said of the lines of a template holds for each of them.
func TestMatchesTemplate(t *testing.T) {
	skipShort(t)
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	patterns := map[string]*pattern.Pattern{}
	for _, source := range []string{`\b0\b times`, `x(?:0|10|200)$`, "^0", "[1-9] of", `exit code [^0]`, "bf16|fp8", "2-D", `(?i)CUDA:0\b`, "0 errors", `(\d)0{2,}`, "a(b1|c2)+3", `\b(?:7|\D0\b)`, "0 of", " 0[^x]"} {
		p, err := pattern.New(source)
		if err != nil {
			t.Fatal(err)
		}
		patterns[source] = p
	}
	for _, e := range base.Entries {
		for _, p := range e.TemplatePatterns() {
			patterns[p.String()] = p
		}
		for _, c := range e.Signature().Match {
			if p := c.Requires(); p != nil {
				patterns[p.String()] = p
			}
		}
	}
	lines := append(testLines(t, base), "x10", "x200", "0 errors", "10 errors", "10 of 9", "0 of 10", "a 05 b", "exit code 0", "exit code 10", "cuda:0 cuda:10", "7 a0", "17 a00", "ab13", "c25", "2-D 3-D")
	rnd := rand.New(rand.NewPCG(1, 2))
	same, differ := 0, 0
	for _, line := range lines {
		if template, ok := pattern.LineTemplate(nil, []byte(line)); !ok || !bytes.ContainsAny(template, "01") {
			continue
		}
		others := [4]string{renumbered(rnd, line), renumbered(rnd, line), renumbered(rnd, line), renumbered(rnd, line)}
		for source, p := range patterns {
			other := others[rnd.IntN(len(others))]
			says, known := p.MatchesTemplate(line)
			matches := p.Matches(other)
			if known && says != matches {
				t.Fatalf("%s: %v for %q, but %v for %q", source, says, line, matches, other)
			}
			if again, knows := p.MatchesTemplate(other); again != says || knows != known {
				t.Fatalf("%s: %v for %q, but %v for %q", source, says, line, again, other)
			}
			if matches && known {
				same++
			} else if !known {
				differ++
			}
		}
	}
	if same < 100 || differ < 10 {
		t.Errorf("%d patterns matched whole templates, %d some of a template", same, differ)
	}
}
