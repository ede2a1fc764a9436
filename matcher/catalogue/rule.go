package catalogue

import (
	"fmt"
	"strings"

	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// Library is what is known of how a library chooses among its backends.
type Library struct {
	Name     string            `json:"name"`
	Title    string            `json:"title"`
	Releases []backend.Release `json:"releases"`
	Rules    []backend.Rule    `json:"rules"`
}

// LibraryOf is the page of a library.
func LibraryOf(l *backend.Library, vocabulary *fact.Vocabulary) Library {
	words := writer{vocabulary: l.Vocabulary(vocabulary)}
	page := Library{Name: l.Name, Title: l.Title, Releases: l.Releases(), Rules: l.Rules()}
	for i, r := range page.Rules {
		page.Rules[i].Because = condition.ParseTemplate(r.Because).Outline(words.name)
	}
	return page
}

// Covers says which releases the rules of a library cover, and in which of them they were compared with the library's own code.
func (l Library) Covers() string {
	var checked []string
	for _, r := range l.Releases {
		if r.Checked {
			checked = append(checked, r.Version)
		}
	}
	covered := fmt.Sprintf("The rules cover the releases %s to %s.", l.Releases[0].Version, l.Releases[len(l.Releases)-1].Version)
	if len(checked) == 0 {
		return covered + " They were read, and not compared with the library's own code."
	}
	return covered + " They were compared with the library's own code in " + strings.Join(checked, ", ") + "."
}

// RuleOf finds a backend rule by its id, and the library that has it.
func RuleOf(libraries []*backend.Library, vocabulary *fact.Vocabulary, id string) (rule backend.Rule, library *backend.Library, found bool) {
	for _, l := range libraries {
		for _, r := range l.Rules() {
			if r.ID == id {
				words := writer{vocabulary: l.Vocabulary(vocabulary)}
				r.Because = condition.ParseTemplate(r.Because).Outline(words.name)
				return r, l, true
			}
		}
	}
	return backend.Rule{}, nil, false
}
