package history

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

// python is the distribution whose history is that of Python itself.
const python = "python"

// Wants are the versions of another package that a release depends on, as its metadata states them: ">=4.40,<5". False tells that it
// does not depend on it, or only for an extra, or that the release is none of those that were read.
func (p *Package) Wants(version, other string) (specifier string, ok bool) {
	i, exact := p.Index(version)
	if !exact {
		return "", false
	}
	if other == python {
		wanted := p.table.Releases[i].RequiresPython
		return wanted, wanted != ""
	}
	for _, requirement := range p.table.Releases[i].Requires {
		requirement, marker, _ := strings.Cut(requirement, ";")
		name, specifier := cutRequirement(requirement)
		if normal(name) == normal(other) && !strings.Contains(marker, "extra") {
			return specifier, true
		}
	}
	return "", false
}

// cutRequirement cuts "torch[extra] (>=2.0,<3)" into the name and the specifier.
func cutRequirement(requirement string) (name, specifier string) {
	requirement = strings.TrimSpace(requirement)
	end := strings.IndexAny(requirement, " [(<>=!~")
	if end < 0 {
		return requirement, ""
	}
	name, specifier = requirement[:end], requirement[end:]
	if i := strings.IndexByte(specifier, ']'); i >= 0 {
		specifier = specifier[i+1:]
	}
	return name, strings.ReplaceAll(strings.Trim(specifier, " ()"), " ", "")
}

// Allows tells whether a specifier of PEP 440, as ">=4.40,!=4.48.*,<5", takes a version. What it cannot read it takes for yes.
func Allows(specifier, version string) bool {
	v, err := condition.ParseVersion(version)
	if err != nil {
		return true
	}
	for clause := range strings.SplitSeq(specifier, ",") {
		if !allows(strings.TrimSpace(clause), v) {
			return false
		}
	}
	return true
}

// comparison is one sign of PEP 440.
type comparison struct {
	sign    string
	accepts func(order int) bool
}

// comparisons are tried in this order: a longer sign before its beginning.
var comparisons = []comparison{
	{"===", func(o int) bool { return o == 0 }}, {"==", func(o int) bool { return o == 0 }}, {"!=", func(o int) bool { return o != 0 }},
	{">=", func(o int) bool { return o >= 0 }}, {"<=", func(o int) bool { return o <= 0 }},
	{">", func(o int) bool { return o > 0 }}, {"<", func(o int) bool { return o < 0 }},
}

func allows(clause string, v condition.Version) bool {
	if base, ok := strings.CutPrefix(clause, "~="); ok {
		cut := strings.LastIndexByte(base, '.')
		return cut < 0 || allows(">="+base, v) && allows("=="+base[:cut]+".*", v)
	}
	at := slices.IndexFunc(comparisons, func(c comparison) bool { return strings.HasPrefix(clause, c.sign) })
	if at < 0 {
		return true
	}
	c := comparisons[at]
	edge, isPrefix := strings.CutSuffix(clause[len(c.sign):], ".*")
	parsed, err := condition.ParseVersion(edge)
	if err != nil {
		return true
	}
	if isPrefix {
		return c.accepts(v.Truncate(strings.Count(edge, ".") + 1).Compare(parsed))
	}
	return c.accepts(v.Compare(parsed))
}
