package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules"
)

// Store is a folder of installed bundles, each named by its version. The newest that this program can read is the one in use. It needs no
// lock: a bundle appears and goes as a whole.
type Store struct{ Dir string }

const extension = ".zip"

// kept is how many bundles stay, so that each can be rolled back.
const kept = 3

// Current is the knowledge in use, or nil when none is newer than what was shipped with the program. One that is written for a newer
// program is passed over: that program may share the folder.
func (s Store) Current() (*Bundle, error) {
	shipped, err := rules.ReadKnowledge(rules.Shipped())
	if err != nil {
		return nil, err
	}
	versions, err := s.versions()
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		if rules.CompareVersions(version, shipped.Version) <= 0 {
			return nil, nil
		}
		content, err := os.ReadFile(s.file(version))
		if errors.Is(err, fs.ErrNotExist) { // rolled back meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		b, err := open(content)
		switch {
		case errors.Is(err, rules.ErrTooNew):
			continue
		case err == nil && b.Version != version:
			err = fmt.Errorf("it holds the knowledge of %s", b.Version)
			fallthrough
		case err != nil:
			return nil, fmt.Errorf("%s: %w; triage rules update --roll-back removes it", s.file(version), err)
		}
		return b, nil
	}
	return nil, nil
}

// ErrNotNewer says that a bundle is not newer than the knowledge in use. Who could install older ones could bring back mistakes.
var ErrNotNewer = errors.New("not newer than the knowledge in use")

// Install keeps a bundle, and uses it from then on. It returns the version that was in use before. The error wraps ErrNotNewer when the
// bundle is not newer than that.
func (s Store) Install(b *Bundle) (before string, err error) {
	before, err = s.inUse()
	if err != nil {
		return before, err
	}
	if rules.CompareVersions(b.Version, before) <= 0 {
		return before, fmt.Errorf("the knowledge of %s is %w, of %s", b.Version, ErrNotNewer, before)
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return before, err
	}
	file, err := os.CreateTemp(s.Dir, "new-*")
	if err != nil {
		return before, err
	}
	defer os.Remove(file.Name()) // when it has its own name, there is nothing left to remove
	_, err = file.Write(b.content)
	if err := errors.Join(err, file.Chmod(0o644), file.Close()); err != nil {
		return before, err
	}
	if err := os.Rename(file.Name(), s.file(b.Version)); err != nil {
		return before, err
	}
	return before, s.tidy()
}

// RollBack removes the newest bundle, whether or not it can be read. It returns the versions of what was removed, "" when there was
// nothing, and of what is in use now.
func (s Store) RollBack() (removed, now string, err error) {
	versions, err := s.versions()
	if err == nil && len(versions) > 0 {
		removed = versions[0]
		err = os.Remove(s.file(removed))
	}
	if err != nil {
		return "", "", err
	}
	now, err = s.inUse()
	return removed, now, err
}

// inUse is the version of the knowledge in use.
func (s Store) inUse() (string, error) {
	b, err := s.Current()
	if err != nil {
		return "", err
	}
	if b != nil {
		return b.Version, nil
	}
	shipped, err := rules.ReadKnowledge(rules.Shipped())
	return shipped.Version, err
}

// tidy removes the oldest bundles.
func (s Store) tidy() error {
	versions, err := s.versions()
	for _, version := range versions[min(len(versions), kept):] {
		err = errors.Join(err, os.Remove(s.file(version)))
	}
	return err
}

// versions are those of the bundles in the folder, the newest first.
func (s Store) versions() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var versions []string
	for _, entry := range entries {
		if version, ok := strings.CutSuffix(entry.Name(), extension); ok && rules.IsVersion(version) {
			versions = append(versions, version)
		}
	}
	slices.SortFunc(versions, func(a, b string) int { return rules.CompareVersions(b, a) })
	return versions, nil
}

func (s Store) file(version string) string { return filepath.Join(s.Dir, version+extension) }
