package backend

import (
	"fmt"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
)

// beyond are sentences about what the situation has and the rules were not compared with: a patch release, a newer version of another
// package. What the rules say of it is likely and no more.
func (s *situation) beyond() []string {
	var found []string
	l := s.library
	if release := l.releases[s.release]; !release.checked {
		found = append(found, fmt.Sprintf("The rules of %s %s were read from its code and not run.", l.Title, release.version))
	}
	if v, ok := s.value(l.version).Version(); ok && !l.checkedRelease(s.release, s) {
		found = append(found, fmt.Sprintf("%s %s itself was not checked; these are the rules of %s.", l.facts[l.version].About, v.Release(), l.releases[s.release].version))
	}
	for i := range l.facts {
		f := &l.facts[i]
		newest, limited := f.checked.Version()
		v, ok := s.value(i).Version()
		if limited && ok && withoutLocal(v).Compare(newest) > 0 {
			found = append(found, fmt.Sprintf("The rules were checked up to %s %s; this is %s.", f.About, newest, v))
		}
	}
	return found
}

// withoutLocal is a version without what a build adds to it: 2.8.3 for 2.8.3+cu13torch2.9.
func withoutLocal(v condition.Version) condition.Version {
	text, _, _ := strings.Cut(v.String(), "+")
	public, err := condition.ParseVersion(text)
	if err != nil { // the beginning of a version is one
		return v
	}
	return public
}

// checkedRelease tells whether the very release of the situation was checked.
func (l *Library) checkedRelease(release int, s *situation) bool {
	v, _ := s.value(l.version).Version()
	if l.releases[release].version.Release().Compare(v.Release()) == 0 || v.Release().Compare(v.Truncate(2)) == 0 {
		return true
	}
	for _, patch := range l.patches {
		if patch.Compare(v.Release()) == 0 {
			return true
		}
	}
	return false
}
