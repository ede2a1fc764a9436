package diagnosis

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/rules/history"
	"github.com/gpu-triage/triage/rules/pattern"
)

// shown is what the first lines of the logs show, where people write what they ask about.
type shown struct {
	heads []reading.Head
	named map[string]bool // packages that were looked for, by their distributions
}

// names tells whether the text names a package as something that is used: it is imported, installed, listed with a release, or its files are
// in a traceback. Many packages have the names of words, as datasets and evaluate, so that a word alone counts only of a name that is written as
// no word is.
func (s *shown) names(distribution string) bool {
	if named, asked := s.named[distribution]; asked {
		return named
	}
	at := slices.IndexFunc(history.Listed(), func(l history.Listing) bool { return l.Name == distribution })
	named := false
	if at >= 0 {
		form := namingForm(append([]string{distribution}, history.Listed()[at].Imported()...))
		named = slices.ContainsFunc(s.heads, func(h reading.Head) bool { return form.MatchString(h.Text) })
	}
	s.named[distribution] = named
	return named
}

// namingForm finds one of the names of a package where it is used.
func namingForm(names []string) *regexp.Regexp {
	var words, phrases []string
	for _, name := range names {
		parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' })
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		words = append(words, strings.Join(parts, `[-_]`))
		if len(parts) > 1 {
			phrases = append(phrases, strings.Join(parts, `[-_ ]`))
		}
	}
	one := `(?:` + strings.Join(words, `|`) + `)`
	forms := []string{
		`(?:^|\n)[^\w\n]*(?:from|import)\s+` + one + `\b`,
		`\b` + one + `(?:\[[\w,]*\])?\s*[=~<>!]=`,
		`\binstall\s[^\n]*?\b` + one + `(?:$|[^\w/-])`,
		`(?:site|dist)-packages[/\\]` + one + `[/\\.-]`,
		`(?:^|[^\w/.-])` + one + `[^\w\n]{1,30}(?:version\W{1,3})?v?\d+\.\d`,
	}
	if len(phrases) > 0 {
		forms = append(forms, `\b(?:`+strings.Join(phrases, `|`)+`)\b`)
	}
	return regexp.MustCompile(`(?i)` + strings.Join(forms, `|`))
}

// maxWords is how many names of code are taken from what people write.
const maxWords = 30

var (
	fenced = pattern.Lazy("(?ms)^[ \t]*```.*?(?:^[ \t]*```|\\z)")
	coded  = pattern.Lazy("`(?:[\\w.]+\\.)?([A-Za-z_]\\w+)(?:\\(\\))?`|(?:^|[^\\w.])(?:[A-Za-z_]\\w*\\.)*([A-Za-z_]\\w+)\\(")
)

// words are the names of code that people write in their sentences, each once: those between backticks, and those that are called. What was
// printed, and the code that they show, is left out.
func (s *shown) words() (words []string) {
	for _, head := range s.heads {
		if !head.Asking {
			continue
		}
		for line := range strings.Lines(fenced().ReplaceAllString(head.Text, "")) {
			if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(strings.TrimSpace(line), "File ") {
				continue
			}
			for _, m := range coded().FindAllStringSubmatch(line, -1) {
				if word := m[1] + m[2]; len(words) < maxWords && !slices.Contains(words, word) {
					words = append(words, word)
				}
			}
		}
	}
	return words
}
