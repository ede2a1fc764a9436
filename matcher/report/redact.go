package report

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"

	"github.com/gpu-triage/triage/rules/pattern"
)

// Redact replaces what looks like a secret in text by its kind: "HF_TOKEN=[redacted token]". Everything that a report quotes goes
// through it, so that no format can forget to. Redacting twice changes nothing more. Tokens are told by the shape that their issuer
// gives them or by the name in front of them; a bare hash, a path or a number stays as it is.
func Redact(text string) string {
	folded := strings.ToLower(text)
	for _, k := range secretKinds {
		if k.mayOccur(folded) {
			text = k.redact(text)
		}
	}
	return text
}

// A secretKind is one row of the table in secrets.go.
type secretKind struct {
	name  string   // stands in the text instead of the secret
	gates []string // lower-case literals; without one of them in the text the pattern is not tried
	// pattern finds the secret. A group named "secret" is replaced alone, without one the whole match is.
	pattern func() *regexp.Regexp
	// looks, when set, is what the found text must look like to be a secret: words and numbers stand in the same places.
	looks func(secret string) bool
}

// kind makes a row. Its pattern is compiled when a text first passes a gate, since most runs quote no secret at all.
func kind(name, source string, gates ...string) secretKind {
	return secretKind{name: name, gates: gates, pattern: pattern.Lazy(source)}
}

// that returns k asking for a secret of certain looks.
func (k secretKind) that(looks func(string) bool) secretKind {
	k.looks = looks
	return k
}

func (k secretKind) mayOccur(folded string) bool {
	for _, gate := range k.gates {
		if strings.Contains(folded, gate) {
			return true
		}
	}
	return false
}

func (k secretKind) redact(text string) string {
	pattern := k.pattern()
	group := max(pattern.SubexpIndex("secret"), 0)
	var out strings.Builder
	done := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[2*group], m[2*group+1]
		if secret := text[start:end]; isPlaceholder(secret) || k.looks != nil && !k.looks(secret) {
			continue
		}
		out.WriteString(text[done:start])
		out.WriteString("[redacted " + k.name + "]")
		done = end
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

func isMixed(s string) bool {
	return strings.ContainsFunc(s, unicode.IsDigit) && strings.ContainsFunc(s, unicode.IsLetter)
}

func isBase64(s string) bool {
	return isMixed(s) && strings.ContainsFunc(s, unicode.IsUpper) && strings.ContainsFunc(s, unicode.IsLower)
}

func isNoNumber(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' })
}

func isNoSpace(s string) bool { return strings.TrimSpace(s) != "" }

// isNoPort tells a password from the port of a link whose path holds an @.
func isNoPort(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	return rest == s || len(s)-len(rest) > 5 || rest == "" || !strings.ContainsAny(rest[:1], "/,;?#")
}

// isNoPath tells a password from the folder that the variable PWD names.
func isNoPath(s string) bool {
	return !strings.ContainsAny(s[:1], `/~.`) && !(len(s) > 2 && s[1] == ':' && strings.ContainsAny(s[2:3], `\/`))
}

// isUserAndPassword tells the base64 of "user:password".
func isUserAndPassword(s string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && bytes.IndexByte(plain, ':') > 0
}

// isPlaceholder tells values that stand where a secret could and are none: stars, a variable, a template, no value at all, or what
// an earlier row put there.
func isPlaceholder(s string) bool {
	if strings.Trim(s, "*x.X") == "" || strings.ContainsAny(s[:1], "[<{$%(") {
		return true
	}
	switch strings.ToLower(s) {
	case "none", "null", "true", "false", "nil", "undefined", "redacted", "hidden", "required", "secret", "password", "token":
		return true
	}
	return false
}
