package prefilter

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gpu-triage/triage/matcher/scan"
)

func TestRequired(t *testing.T) {
	tests := []struct {
		pattern string
		want    []string
	}{
		{`CUDA out of memory`, []string{"CUDA out of memory"}},
		{`Tried to allocate (?P<asked>[\d.]+ [KMGT]?i?B)`, []string{"Tried to allocate "}},
		{`_flash_attn_\w+\(\) missing \d+ required positional arguments?: .*'softcap'`, []string{" required positional argument"}},
		{`(?:CUBLAS|CUDNN)_STATUS_NOT_SUPPORTED`, []string{"CUBLAS_STATUS_NOT_SUPPORTED", "CUDNN_STATUS_NOT_SUPPORTED"}},
		{`exit(?:ed with |)code: -[69]\b`, []string{"exitcode: -6", "exitcode: -9", "exited with code: -6", "exited with code: -9"}},
		{`^\s*torch\.(cuda\.)?OutOfMemoryError`, []string{"OutOfMemoryError"}},
		{`(?i)out of memory: killed`, []string{"(?i)out of memory: killed", "(?i)out of memory: \u212Ailled"}},
		{`[Ww]atchdog caught`, []string{"(?i)watchdog caught"}},
		{`(?:softcap){1,3}`, []string{"softcap"}},
		{`Xid \(PCI:[0-9a-f:.]+\): 79`, []string{`Xid \(PCI:`}},
	}
	for _, test := range tests {
		var texts []string
		for _, l := range Required(test.pattern) {
			texts = append(texts, l.String())
		}
		slices.Sort(texts)
		slices.Sort(test.want)
		if !slices.Equal(texts, test.want) {
			t.Errorf("Required(%q) = %q, want %q", test.pattern, texts, test.want)
		}
	}
}

func TestRequiredRefuses(t *testing.T) {
	for _, pattern := range []string{``, `nan`, `.*`, `loss|NVLink error`, `(?:CUDA error)*`, `[a-z]{20}`, `(`, "a\nb\nc\nd", `(?s)ab.cd`, `[^\x00-\x{10FFFF}]`} {
		if got := Required(pattern); got != nil {
			t.Errorf("Required(%q) = %v, want none", pattern, got)
		}
	}
}

// FuzzRequired generates texts that match a pattern: each must contain a literal that the pattern is said to require.
func FuzzRequired(f *testing.F) {
	for i, pattern := range []string{
		`Tried to allocate (?P<asked>[\d.]+ [KMGT]?i?B)`, `(?i)unhandled (cuda|system) error`, `exit(?:ed with |)code: -[69]\b`,
		`(?:abc|def)+xyz(?:123456|654321)?`, `(?i:kelvin)sign|K.sock`, `^(a|b|c)(d|e|f)(g|h|i)(j|k|l) together$`, `x{3,5}y{2,}zzzzz+`,
		"\uFFFDreplaced\uFFFD", `[Ee]rror[: ]+(?:\w+|-)[A-Za-z]{5}`, `(?:|aaaa)(?:bbbb|)(cccc)?dddd|eeeee.fffff`, `(?i)straße MASSE`,
		`((a{0,3}b){2}c+)+12345`, `(?s)one.*two\nthree`, `\bword\B-like\.`, `[^a-y]{2}[a-c]{3}-----`, `(?i)[k-s]{5}`,
	} {
		f.Add(pattern, uint64(i))
	}
	f.Fuzz(func(t *testing.T, pattern string, seed uint64) {
		if len(pattern) > 200 {
			return
		}
		literals := Required(pattern)
		if len(literals) == 0 {
			return
		}
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatalf("Required takes %q, but it is no regular expression: %v", pattern, err)
		}
		matches := regexp.MustCompile(pattern)
		rnd := rand.New(rand.NewPCG(seed, 1))
		for range 30 {
			text := string(generate(nil, tree.Simplify(), rnd))
			if len(text) > 10000 || strings.ContainsAny(text, "\r\n") || !matches.MatchString(text) {
				continue
			}
			if !slices.ContainsFunc(literals, func(l scan.Literal) bool { return l.In(text) }) {
				t.Fatalf("%q matches %q and has none of %v", text, pattern, literals)
			}
		}
	})
}

// generate appends a text that tree matches, but for what it asserts about its surroundings.
func generate(text []byte, tree *syntax.Regexp, rnd *rand.Rand) []byte {
	repeat := func(least int) []byte {
		for n := least + rnd.IntN(4); n > 0; n-- {
			text = generate(text, tree.Sub[0], rnd)
		}
		return text
	}
	switch tree.Op {
	case syntax.OpLiteral:
		for _, r := range tree.Rune {
			if tree.Flags&syntax.FoldCase != 0 {
				for n := rnd.IntN(4); n > 0; n-- {
					r = unicode.SimpleFold(r)
				}
			}
			text = appendRune(text, r, rnd)
		}
	case syntax.OpCharClass:
		if n := len(tree.Rune) / 2; n > 0 {
			i := rnd.IntN(n)
			low, high := tree.Rune[2*i], tree.Rune[2*i+1]
			text = appendRune(text, low+rune(rnd.IntN(int(min(high-low, 300))+1)), rnd)
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		text = appendRune(text, []rune{'a', ' ', 'K', utf8.RuneError, 'é'}[rnd.IntN(5)], rnd)
	case syntax.OpConcat:
		for _, sub := range tree.Sub {
			text = generate(text, sub, rnd)
		}
	case syntax.OpAlternate:
		return generate(text, tree.Sub[rnd.IntN(len(tree.Sub))], rnd)
	case syntax.OpCapture:
		return generate(text, tree.Sub[0], rnd)
	case syntax.OpStar:
		return repeat(0)
	case syntax.OpPlus:
		return repeat(1)
	case syntax.OpQuest:
		if rnd.IntN(2) == 0 {
			return generate(text, tree.Sub[0], rnd)
		}
	}
	return text
}

// appendRune writes the character that invalid UTF-8 reads as in that way, too.
func appendRune(text []byte, r rune, rnd *rand.Rand) []byte {
	if r == utf8.RuneError && rnd.IntN(2) == 0 {
		return append(text, 0xff)
	}
	return utf8.AppendRune(text, r)
}
