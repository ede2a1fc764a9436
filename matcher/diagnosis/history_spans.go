package diagnosis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/history"
)

// change tells how a name came or went over the releases that are known: removed, added, or both.
func change(ranges []history.Range) string {
	ranges = slices.DeleteFunc(slices.Clone(ranges), func(r history.Range) bool { return r.Presence == history.Unknown })
	if len(ranges) == 0 {
		return ""
	}
	first, last := ranges[0].Presence, ranges[len(ranges)-1].Presence
	switch {
	case first == history.Present && last == history.Absent:
		return "removed"
	case first == history.Absent && last == history.Present:
		return "added"
	case len(ranges) > 1:
		return "added and removed"
	}
	return ""
}

// before is the newest release without a name that was added since; "" for other names.
func before(ranges []history.Range) string {
	if change(ranges) != "added" {
		return ""
	}
	lacking := ""
	for _, r := range ranges {
		if r.Presence == history.Absent {
			lacking = r.Last.Version
		}
	}
	return lacking
}

// since is the first of the newest releases that have a name; "" when the newest has it not.
func since(ranges []history.Range) string {
	last := ranges[len(ranges)-1]
	if last.Presence != history.Present {
		return ""
	}
	return last.First.Version
}

// fresh tells whether a release is of the line in which a name came, such as 4.29.1 where it came with 4.29.0.
func fresh(installed, since string) condition.Value {
	v, errV := condition.ParseVersion(installed)
	w, errW := condition.ParseVersion(since)
	if errV != nil || errW != nil {
		return condition.Value{}
	}
	return condition.BoolValue(v.Minor() == w.Minor())
}

// nextLine is the last release of the line after that of an installed one: 4.30.2 after 4.29.1. It is "" when there is none.
func nextLine(installed string, releases []history.Release) (last string) {
	v, err := condition.ParseVersion(installed)
	if err != nil {
		return ""
	}
	var line condition.Version
	for _, r := range releases {
		w, err := condition.ParseVersion(r.Version)
		switch {
		case err != nil || w.Compare(v) <= 0 || w.Minor() == v.Minor():
		case last == "" || w.Minor() == line.Minor():
			line, last = w, r.Version
		default:
			return last
		}
	}
	return last
}

// years is for how long all releases have had a name, up to the newest that is known; unknown when that one has it not.
func years(ranges []history.Range, releases []history.Release) condition.Value {
	last := ranges[len(ranges)-1]
	if last.Presence == history.Unknown && len(ranges) > 1 {
		last = ranges[len(ranges)-2]
	}
	if last.Presence != history.Present {
		return condition.Value{}
	}
	const year = 365 * 24 * time.Hour
	return condition.NumberValue(releases[len(releases)-1].Date.Sub(last.First.Date).Hours() / year.Hours())
}

// lackedUntil is the year in which the newest release that is known to lack a name came out. A release much older than the Python that
// runs cannot be the installed one.
func lackedUntil(ranges []history.Range) condition.Value {
	for _, r := range slices.Backward(ranges) {
		if r.Presence == history.Absent {
			return condition.NumberValue(float64(r.Last.Date.Year()))
		}
	}
	return condition.Value{}
}

// maxSpans is how many stretches of releases are told, the newest.
const maxSpans = 3

// spans are the releases of one kind in words: "4.10.0 (2021-08) to 4.49.0 (2025-02), and 5.0.0 (2025-12) or newer".
func spans(ranges []history.Range, kind history.Presence, and string) string {
	var all []string
	for i, r := range ranges {
		if r.Presence == kind {
			all = append(all, span(r, i == 0, i == len(ranges)-1))
		}
	}
	if n := len(all); n > maxSpans {
		all = all[n-maxSpans:]
	}
	return strings.Join(all, and)
}

func span(r history.Range, oldest, newest bool) string {
	dated := func(r history.Release) string { return fmt.Sprintf("%s (%s)", r.Version, r.Date.Format("2006-01")) }
	switch {
	case oldest && newest:
		return "all releases"
	case newest:
		return dated(r.First) + " or newer"
	case oldest:
		return dated(r.Last) + " or older"
	case r.From == r.To:
		return dated(r.First)
	}
	return dated(r.First) + " to " + dated(r.Last)
}
