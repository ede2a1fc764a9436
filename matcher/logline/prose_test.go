package logline

import (
	"slices"
	"strings"
	"testing"
)

const greeting = "Hi, I try to brew tea.\n"

// TestSentences: what a person wrote, by its sentences; a line of no end is left out, and what is below it stands for itself.
func TestSentences(t *testing.T) {
	endless := strings.Repeat("and on ", maxSentence)
	for text, want := range map[string][]string{
		"The pot is cold. Is it broken?":                                        {"The pot is cold.", "Is it broken?"},
		"The pot that stands on the stove since this morning\nis cold.":         {"The pot that stands on the stove since this morning is cold."},
		"The pot is cold.\n```\nOSError: no water\n```\nSo be it.":              {"The pot is cold.", "So be it."},
		endless + "\nthe pot is cold.":                                          {"the pot is cold."},
		"The pot that stands on the stove since this\n" + endless + "\nis cold": {"The pot that stands on the stove since this", "is cold"},
	} {
		var got []string
		for _, s := range Sniff("x", []byte(greeting)).Sentences([]byte(text)) {
			got = append(got, s.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.60q has the sentences %q, want %q", text, got, want)
		}
	}
}

// FuzzSentences: whatever a post holds, its sentences are of its own words.
func FuzzSentences(f *testing.F) {
	f.Add("The pot is cold.\n- [x] read the manual\n# It fails\n> $ brew\nand on")
	f.Add(strings.Repeat("long ", maxSentence) + "\nand on")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range Sniff("x", []byte(greeting)).Sentences([]byte(text)) {
			for _, word := range strings.Fields(s.Text) {
				if !strings.Contains(text, word) {
					t.Errorf("%q is no word of %q", word, text)
				}
			}
		}
	})
}
