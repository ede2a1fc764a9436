package report

import (
	"regexp"
	"strings"
)

// Redact takes the secrets out of everything in a report that may come from a log, a flag or a machine, in place. What makes a report
// calls it once, before anybody sees the report.
func (r *Report) Redact() {
	redactFacts(r.Facts)
	redactAll(r.Notes)
	for _, one := range r.Ranks {
		if one.Sign != nil {
			one.Sign.Text = Redact(one.Sign.Text)
		}
	}
	for i := range r.Diagnoses {
		d := &r.Diagnoses[i]
		d.Title, d.Cause = Redact(d.Title), Redact(d.Cause)
		redactFacts(d.Facts)
		redactEvidence(d.Evidence)
		for j := range d.Missing {
			d.Missing[j].Why, d.Missing[j].How = Redact(d.Missing[j].Why), Redact(d.Missing[j].How)
		}
		for j := range d.Fixes {
			f := &d.Fixes[j]
			f.Do, f.Effect, f.Loses = Redact(f.Do), Redact(f.Effect), Redact(f.Loses)
			f.remove(func(command string) bool { return Redact(command) != command }) // half a command does something else
			for name, value := range f.Set {
				f.Set[name] = redactValue(name, value)
			}
		}
		for j := range d.Consequences {
			d.Consequences[j].Title = Redact(d.Consequences[j].Title)
		}
	}
}

// redactEvidence also knows a private key of which every line is evidence of its own.
func redactEvidence(evidence []Evidence) {
	inKey := false
	for i := range evidence {
		text := evidence[i].Text
		switch {
		case keyBegins.MatchString(text):
			inKey = !keyEnds.MatchString(text)
		case keyEnds.MatchString(text):
			inKey = false
			for j := i - 1; j >= 0 && keyLine.MatchString(evidence[j].Text); j-- {
				evidence[j].Text = redactedKey
			}
		case inKey && keyLine.MatchString(text):
			evidence[i].Text = redactedKey
			continue
		default:
			inKey = false
		}
		evidence[i].Text = Redact(text)
	}
}

const redactedKey = "[redacted private key]"

var (
	keyBegins = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`)
	keyEnds   = regexp.MustCompile(`-----END [A-Z0-9 ]*PRIVATE KEY`)
	keyLine   = regexp.MustCompile(`(?:^|[^A-Za-z0-9+/=])[A-Za-z0-9+/]+={0,2}\s*$`)
)

func redactAll(texts []string) {
	for i, text := range texts {
		texts[i] = Redact(text)
	}
}

func redactFacts(facts []FactValue) {
	for i, f := range facts {
		facts[i].Value = redactValue(f.Name, f.Value)
	}
}

// redactValue takes the secrets out of a fact's value, which is what JSON can hold. Its name may tell that it is one: env.HF_TOKEN.
func redactValue(name string, value any) any {
	switch v := value.(type) {
	case string:
		name = strings.TrimPrefix(name, "env.")
		return strings.TrimPrefix(Redact(name+"="+v), name+"=")
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = redactValue(name, v[i])
		}
		return copied
	case map[string]any:
		copied := make(map[string]any, len(v))
		for member := range v {
			copied[member] = redactValue(member, v[member])
		}
		return copied
	}
	return value
}
