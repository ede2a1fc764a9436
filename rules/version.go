package rules

import (
	"fmt"
	"strings"

	pep440 "github.com/aquasecurity/go-pep440-version"
)

// maxVersionLength bounds what is taken for a version; real ones have at most some 40 bytes.
const maxVersionLength = 128

// Version is a release of a library, ordered as PEP 440 orders: a local or post release is newer than its base, a pre-release older.
type Version struct {
	text   string
	parsed pep440.Version
}

// ParseVersion reads a version as Python's packaging does.
func ParseVersion(text string) (Version, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxVersionLength {
		return Version{}, fmt.Errorf("%q… is too long for a version", text[:40])
	}
	parsed, err := pep440.Parse(text)
	if err != nil {
		return Version{}, fmt.Errorf("%q is not a version such as 2.7.4.post1 (PEP 440)", text)
	}
	return Version{text: text, parsed: parsed}, nil
}

// String is the version as it was written.
func (v Version) String() string { return v.text }

// Compare is negative when v is older than o, zero when they are equal, positive when v is newer.
func (v Version) Compare(o Version) int { return v.parsed.Compare(o.parsed) }

// Release is the version without pre-release, post-release, development and local parts: 2.6.0 for 2.6.0a0+ecf3bae40a.nv25.01.
func (v Version) Release() Version {
	end := strings.IndexFunc(v.text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if strings.HasPrefix(v.text, "v") {
		end = -1
	}
	if end < 0 {
		return v
	}
	released, err := ParseVersion(strings.TrimRight(v.text[:end], "."))
	if err != nil { // an epoch, or a form without a leading number
		return v
	}
	return released
}
