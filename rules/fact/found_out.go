package fact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// FoundOut is how people who ask about a failure tell what they have found out already: the release that worked, the option without which it
// works, what was changed, what was tried in vain.
type FoundOut struct {
	// Sentences are asked about each sentence in their order. The first that tells something counts.
	Sentences []FoundSentence
	// Asks matches a sentence that asks or supposes, and so tells nothing; nil when there is none.
	Asks *pattern.Pattern
	// idle matches a sentence that tells of nothing that goes wrong now: a wish, what was solved, what would be. how matches a question about no
	// failure, unless solve matches too. Each is nil when there is none.
	idle, how, solve *pattern.Pattern
	// Things matches the name of what has releases and is no Python package; nil when there is none.
	Things *pattern.Pattern
	// Fields matches what says of a package which release is installed, with groups name and value; nil when there is none.
	Fields *pattern.Pattern
	// Marks matches the words of what was tried by which it is known again: names of options, files and packages; nil when there is none.
	Marks *pattern.Pattern
}

// FoundSentence is a form of such a sentence. The groups of its pattern are names of facts.
type FoundSentence struct {
	Pattern *pattern.Pattern
	Unless  *pattern.Pattern  // in a sentence that this matches nothing is told; nil for none
	Two     bool              // the sentence may end in the next one: "I tried X. It did not help."
	Follows string            // the fact that the lines of code below the sentence give; "" for none
	Example string            // one such sentence
	Tells   map[string]string // the facts that the example gives
}

// The facts whose values are put together from what sentences say.
const (
	ChangedPackage = "changed_package" // a Python package, by the name that pip knows
	WorksRelease   = "works_release"
	FailsRelease   = "fails_release"
	WorksWith      = "works_with"
	FailsWith      = "fails_with"
	BeganWith      = "began_with" // something that has releases and is no Python package
	Tried          = "tried_in_vain"
	GoesWrong      = "what_goes_wrong" // in the words of who asks
)

// Complains tells whether a sentence may tell of something that goes wrong now.
func (f *FoundOut) Complains(sentence string) bool {
	is := func(p *pattern.Pattern) bool { return p != nil && p.Matches(sentence) }
	return !is(f.idle) && (!is(f.how) || is(f.solve))
}

type foundOutEntry struct {
	Words     map[string]string `yaml:"words"`
	Asks      rulefile.Text     `yaml:"asks"`
	Idle      rulefile.Text     `yaml:"idle"`
	How       rulefile.Text     `yaml:"how"`
	Solve     rulefile.Text     `yaml:"solve"`
	Things    rulefile.Text     `yaml:"things"`
	Fields    rulefile.Text     `yaml:"fields"`
	Marks     rulefile.Text     `yaml:"marks"`
	Sentences []struct {
		Pattern rulefile.Text     `yaml:"pattern"`
		Unless  rulefile.Text     `yaml:"unless"`
		Two     bool              `yaml:"two"`
		Follows string            `yaml:"follows"`
		Example string            `yaml:"example"`
		Tells   map[string]string `yaml:"tells"`
	} `yaml:"sentences"`
}

func newFoundOut(d *rulefile.Decoder, v *Vocabulary, e *foundOutEntry) FoundOut {
	compile := func(t rulefile.Text) *pattern.Pattern {
		whole, err := withWords(t.Value, e.Words)
		if err != nil {
			d.Problem(t.Line, t.Column, "%v", err)
			return nil
		}
		t.Value = whole
		return optionalPattern(d, t)
	}
	found := FoundOut{Asks: compile(e.Asks), idle: compile(e.Idle), how: compile(e.How), solve: compile(e.Solve), Things: compile(e.Things), Fields: compile(e.Fields), Marks: compile(e.Marks)}
	for _, s := range e.Sentences {
		sentence := FoundSentence{Pattern: compile(s.Pattern), Unless: compile(s.Unless), Two: s.Two, Follows: s.Follows, Example: s.Example, Tells: s.Tells}
		if sentence.Pattern == nil {
			continue
		}
		for _, name := range append(sentence.Pattern.Names(), s.Follows) {
			if _, ok := v.Fact(name); name != "" && !ok {
				d.Problem(s.Pattern.Line, s.Pattern.Column, "the group %s is no fact", name)
			}
		}
		found.Sentences = append(found.Sentences, sentence)
	}
	return found
}

// word is a place in a pattern where one of the words stands. A number in braces is how often something comes.
var word = regexp.MustCompile(`\{([a-z_]+)\}`)

// maxWordDepth is how deep words may have words in them.
const maxWordDepth = 5

// withWords is a pattern with the words in the places that name them.
func withWords(text string, words map[string]string) (string, error) {
	for range maxWordDepth {
		if !word.MatchString(text) {
			return text, nil
		}
		text = word.ReplaceAllStringFunc(text, func(place string) string {
			if is, ok := words[strings.Trim(place, "{}")]; ok {
				return "(?:" + is + ")"
			}
			return place
		})
	}
	return "", fmt.Errorf("%s stands in the pattern, and is none of the words", word.FindString(text))
}

// Installs is the name by which pip knows what people call so: torch for PyTorch. It is "" for what pip does not install.
func (v *Vocabulary) Installs(name string) string {
	fact, ok := v.Package(name)
	if !ok || v.installs[fact] == "" || slices.Contains(v.listed, fact) {
		return ""
	}
	return v.installs[fact]
}
