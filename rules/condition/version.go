package condition

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	pep440 "github.com/aquasecurity/go-pep440-version"
)

// maxVersionLength bounds what is taken for a version; real ones have at most some 40 bytes.
const maxVersionLength = 128

// Version is a release of a library. Versions are ordered as PEP 440 orders: a local or post release is newer than its base, a pre-release older.
type Version struct {
	text string
	key  string // orders byte by byte as the versions do
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
	return Version{text: text, key: sortKey(parsed.String())}, nil
}

// normalForm is what pep440 prints: epoch, release, pre-release, post-release, development release, local part.
var normalForm = regexp.MustCompile(`^(?:(\d+)!)?([\d.]+)(?:(a|b|rc)(\d+))?(?:\.post(\d+))?(?:\.dev(\d+))?(?:\+(.+))?$`)

// sortKey turns a normalized version into bytes whose order is PEP 440's, so that comparing, which rules do all the time, costs nothing.
func sortKey(normal string) string {
	const lowest, some, highest = 0, 1, 0xff
	m := normalForm.FindStringSubmatch(normal)
	if m == nil { // not printed by the versions of pep440 that were read
		return normal
	}
	key := number(nil, some, m[1])
	release := strings.Split(m[2], ".")
	for len(release) > 1 && strings.Trim(release[len(release)-1], "0") == "" {
		release = release[:len(release)-1]
	}
	for _, part := range release {
		key = number(key, some, part)
	}
	key = append(key, lowest)
	pre, post, dev := m[3] != "", m[5] != "", m[6] != ""
	switch {
	case pre:
		key = number(key, m[3][0], m[4]) // a < b < r
	case !post && dev:
		key = append(key, lowest)
	default:
		key = append(key, highest)
	}
	if post {
		key = number(key, some, m[5])
	} else {
		key = append(key, lowest)
	}
	if dev {
		key = number(key, some, m[6])
	} else {
		key = append(key, highest)
	}
	return string(localKey(key, m[7]))
}

// localKey appends the local part: none is lowest, words come before numbers, a longer one after its beginning.
func localKey(key []byte, local string) []byte {
	const end, word, digits = 0, 1, 2
	if local != "" {
		for segment := range strings.SplitSeq(local, ".") {
			if strings.Trim(segment, "0123456789") == "" {
				key = number(key, digits, segment)
			} else {
				key = append(append(append(key, word), segment...), end)
			}
		}
	}
	return append(key, end)
}

func number(key []byte, mark byte, digits string) []byte {
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil && digits != "" {
		n = 1<<64 - 1
	}
	return binary.BigEndian.AppendUint64(append(key, mark), n)
}

// String is the version as it was written.
func (v Version) String() string { return v.text }

// Compare is negative when v is older than o, zero when they are equal, positive when v is newer.
func (v Version) Compare(o Version) int { return strings.Compare(v.key, o.key) }

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

// public is the version without its local part: 2.8.3 for 2.8.3+cu13.
func (v Version) public() Version {
	public, _, local := strings.Cut(v.text, "+")
	if !local {
		return v
	}
	without, err := ParseVersion(public)
	if err != nil { // a version with a local part is one without it, too
		return v
	}
	return without
}

// Minor is the first two numbers of the release: 2 and 10 for 2.10.1.
func (v Version) Minor() (numbers [2]uint64) {
	const epoch, part = 9, 9 // bytes of each in the key: a mark and the number
	for i, rest := 0, v.key[min(epoch, len(v.key)):]; i < 2 && len(rest) > part && rest[0] != 0; i, rest = i+1, rest[part:] {
		numbers[i] = binary.BigEndian.Uint64([]byte(rest[1:part]))
	}
	return numbers
}

// Truncate is the release cut to its first n numbers: 9.10.2 for 9.10.2.21 and n = 3.
func (v Version) Truncate(n int) Version {
	release := v.Release()
	parts := strings.Split(release.text, ".")
	if len(parts) <= n {
		return release
	}
	short, err := ParseVersion(strings.Join(parts[:n], "."))
	if err != nil { // the numbers of a version are a version
		return v
	}
	return short
}
