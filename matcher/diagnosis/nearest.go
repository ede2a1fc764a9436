package diagnosis

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/spelling"
)

// Bounds of what is compared: a message may list thousands of names.
const (
	maxOffered     = 300 // values of a list
	maxOfferedSize = 100 // bytes of one
)

var (
	offeredQuoted = pattern.Lazy(`'([^'\n]+)'|"([^"\n]+)"|` + "`([^`\n]+)`")
	offeredBare   = pattern.Lazy(`[^\s,;|\[\](){}]+`)
)

// nearest is the value of a printed list that was most likely meant by another one: the same with other capitals or in a folder, else the one
// that goes on behind it after a full stop (of several the last: 1.2.0.post2 for 1.2.0), else the one
// that is spelled most alike. It is "" when none is like it, or when the value itself is listed.
func nearest(got, list string) string {
	got = strings.Trim(got, "'\"` ")
	if got == "" || len(got) > maxOfferedSize {
		return ""
	}
	values := offered(list)
	for _, v := range values {
		if v == got {
			return ""
		}
	}
	for _, v := range values {
		if strings.EqualFold(v, got) || strings.HasSuffix(strings.ReplaceAll(v, `\`, "/"), "/"+got) {
			return v
		}
	}
	for _, v := range slices.Backward(values) {
		if strings.HasPrefix(v, got+".") {
			return v
		}
	}
	return spelling.Nearest(got, values)
}

// offered are the values of a printed list: those in quotes, or the words when none is quoted.
func offered(list string) []string {
	var values []string
	for _, m := range offeredQuoted().FindAllStringSubmatch(list, maxOffered) {
		values = append(values, m[1]+m[2]+m[3])
	}
	if len(values) == 0 {
		values = offeredBare().FindAllString(list, maxOffered)
	}
	kept := values[:0]
	for _, v := range values {
		if len(v) <= maxOfferedSize && v != "and" && v != "or" {
			kept = append(kept, v)
		}
	}
	return kept
}
