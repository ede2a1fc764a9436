package condition

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// maxVersionLength bounds what is taken for a version; real ones have at most some 40 bytes.
const maxVersionLength = 128

// Version is a release of a library. Versions are ordered as PEP 440 orders: a local or post release is newer than its base, a pre-release older.
type Version struct {
	text string
	key  string // orders byte by byte as the versions do
}

// versionForm is appendix B of PEP 440, in lower case. Numbers have at most 18 digits, which an uint64 holds.
var versionForm = regexp.MustCompile(`^v?(?:(\d{1,18})!)?(\d{1,18}(?:\.\d{1,18})*)` +
	`(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d{0,18}))?` +
	`(-\d{1,18}|[-_.]?(?:post|rev|r)[-_.]?\d{0,18})?` +
	`([-_.]?dev[-_.]?\d{0,18})?` +
	`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)

// ParseVersion reads a version as Python's packaging does. It is written here because what rules do all the time is compare: a
// version is read once, into a key whose bytes have the order of PEP 440, and no library gives one.
func ParseVersion(text string) (Version, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxVersionLength {
		return Version{}, fmt.Errorf("%q… is too long for a version", text[:40])
	}
	parts := versionForm.FindStringSubmatch(strings.ToLower(text))
	if parts == nil {
		return Version{}, fmt.Errorf("%q is not a version such as 2.7.4.post1 (PEP 440)", text)
	}
	epoch, release, stage, local := parts[1], parts[2], parts[3], parts[7]
	key := releaseKey(epoch, release)
	key = stageKey(key, stage, parts[4], parts[5], parts[6])
	return Version{text: text, key: string(localKey(key, local))}, nil
}

// Marks in a key, before what they tell the order of.
const lowest, some, highest = 0, 1, 0xff

// releaseKey begins a key: zeros at a release's end do not count.
func releaseKey(epoch, release string) []byte {
	key := number(nil, some, epoch)
	numbers := strings.Split(release, ".")
	for len(numbers) > 1 && strings.Trim(numbers[len(numbers)-1], "0") == "" {
		numbers = numbers[:len(numbers)-1]
	}
	for _, n := range numbers {
		key = number(key, some, n)
	}
	return append(key, lowest)
}

// stageKey appends pre-release, post-release and development release, each "" when there is none: 1.0.dev1 is before 1.0a1, and that
// before 1.0, which is before 1.0.post1.
func stageKey(key []byte, stage, stageNumber, post, dev string) []byte {
	switch {
	case strings.HasPrefix(stage, "a"), strings.HasPrefix(stage, "b"):
		key = number(key, stage[0], stageNumber)
	case stage != "": // the other words all mean a release candidate
		key = number(key, 'r', stageNumber)
	case post == "" && dev != "":
		key = append(key, lowest)
	default:
		key = append(key, highest)
	}
	if post != "" {
		key = number(key, some, digitsOf(post))
	} else {
		key = append(key, lowest)
	}
	if dev != "" {
		return number(key, some, digitsOf(dev))
	}
	return append(key, highest)
}

// digitsOf is what follows the word: 1 for .post1.
func digitsOf(part string) string { return strings.TrimLeft(part, "-_.abcdefghijklmnopqrstuvwxyz") }

// localKey appends the local part: none is lowest, words come before numbers, a longer one after its beginning.
func localKey(key []byte, local string) []byte {
	const end, word, digits = 0, 1, 2
	if local != "" {
		for _, segment := range strings.FieldsFunc(local, func(r rune) bool { return r == '.' || r == '-' || r == '_' }) {
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
