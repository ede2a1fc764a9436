package fact

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

// decodings are the spellings in which logs print values, by the name that facts.yaml uses for them. Each turns the printed text
// into the text that the fact's type reads.
var decodings = map[string]func(string) (string, error){
	"":           func(s string) (string, error) { return s, nil },
	"packed":     packedVersion,
	"cuda":       cudaVersion,
	"cu":         wheelTag,
	"tuple":      tupleVersion,
	"digits":     digitsVersion,
	"capability": capability,
	"loose":      looseVersion,
	"gib":        gib,
	"count":      count,
}

// Decode turns a text in one of the spellings of facts.yaml into one that the fact's type reads.
func Decode(spelling, text string) (string, error) {
	decode := decodings[spelling]
	if decode == nil {
		return "", fmt.Errorf("unknown decoding %q", spelling)
	}
	return decode(text)
}

// packedVersion reads the one-number versions of cuDNN (8907 is 8.9.7, 90201 is 9.2.1) and NCCL (22809 is 2.28.9).
func packedVersion(s string) (string, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1000 {
		return "", fmt.Errorf("%q is not a packed version", s)
	}
	thousands := 1000
	if n >= 10000 {
		thousands = 10000
	}
	return fmt.Sprintf("%d.%d.%d", n/thousands, n%thousands/100, n%100), nil
}

// cudaVersion reads CUDA's one-number versions: 12040 is 12.4.
func cudaVersion(s string) (string, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1000 {
		return "", fmt.Errorf("%q is not a packed CUDA version", s)
	}
	return fmt.Sprintf("%d.%d", n/1000, n%1000/10), nil
}

// wheelTag reads the digits of a wheel's CUDA tag: cu124 is 12.4.
func wheelTag(s string) (string, error) {
	if len(s) < 2 {
		return "", fmt.Errorf("%q is not a CUDA tag", s)
	}
	return s[:len(s)-1] + "." + s[len(s)-1:], nil
}

// tupleVersion reads "(2, 28, 9)".
func tupleVersion(s string) (string, error) {
	return strings.NewReplacer("(", "", ")", "", " ", "", ",", ".").Replace(s), nil
}

// digitsVersion reads a version without its point, as folders of Python have it: 310 is 3.10.
func digitsVersion(s string) (string, error) {
	if len(s) < 2 {
		return "", fmt.Errorf("%q is not a version without its point", s)
	}
	return s[:1] + "." + s[1:], nil
}

// capability reads a compute capability in any usual spelling (sm80, sm_90a, 8.0, (8, 0), 80) as the number that sm has.
func capability(s string) (string, error) {
	digits := regexp.MustCompile(`\d+`).FindAllString(s, 2)
	switch {
	case len(digits) == 2 && len(digits[1]) == 1:
		return digits[0] + digits[1], nil
	case len(digits) == 1:
		return digits[0], nil
	}
	return "", fmt.Errorf("%q is not a compute capability", s)
}

var versionLike = regexp.MustCompile(`\d+(?:\.\d+)+[0-9A-Za-z.+]*|\d+`)

// looseVersion takes the version out of a text such as "<Version('2.6.3')>" or "2.3.0+5de3e14".
func looseVersion(s string) (string, error) {
	if v := versionLike.FindString(s); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("there is no version in %q", s)
}

// count reads a small number in digits or in words.
func count(s string) (string, error) {
	words := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight"}
	s = strings.ToLower(s)
	switch s {
	case "a", "an", "single":
		return "1", nil
	case "dual":
		return "2", nil
	}
	if n := slices.Index(words, s); n > 0 {
		return strconv.Itoa(n), nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1024 {
		return "", fmt.Errorf("%q is not a small number", s)
	}
	return s, nil
}

// gib reads a size with its unit ("80 GiB", "81920MiB") as a number of GiB.
func gib(s string) (string, error) {
	bytes, ok := condition.Size(s)
	if !ok {
		return "", fmt.Errorf("%q is not a size", s)
	}
	return strconv.FormatFloat(bytes/(1<<30), 'f', 2, 64), nil
}
