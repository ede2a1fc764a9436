package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules/release"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// KnowledgeFile is the file that says which knowledge a folder of rules is.
const KnowledgeFile = "knowledge.yaml"

// Format is the form of rules that this program reads. It reads lower ones too.
const Format = 1

// Knowledge says which knowledge a folder of rules is.
type Knowledge struct {
	Version string `yaml:"version"` // a day as 2026.11.23; a second one of that day is 2026.11.23.1
	Format  int    `yaml:"format"`
}

// ErrTooNew says that knowledge is written for programs that come after this one.
var ErrTooNew = errors.New("written for a newer triage")

var knowledgeVersion = regexp.MustCompile(`^20\d\d\.[01]\d\.[0-3]\d(\.\d{1,3})?$`)

// IsVersion tells whether a text is a version of knowledge.
func IsVersion(text string) bool { return knowledgeVersion.MatchString(text) }

// CompareVersions orders versions of knowledge: it is negative when a is older than b.
func CompareVersions(a, b string) int {
	number := func(version string) [4]int {
		var n [4]int
		for i, part := range strings.SplitN(version, ".", len(n)) {
			n[i], _ = strconv.Atoi(part) // of what is no version nothing is newer
		}
		return n
	}
	x, y := number(a), number(b)
	return slices.Compare(x[:], y[:])
}

// ReadKnowledge reads which knowledge the files are. The error wraps ErrTooNew, or says what is wrong with them.
func ReadKnowledge(files fs.FS) (Knowledge, error) {
	content, err := fs.ReadFile(files, KnowledgeFile)
	if err != nil {
		return Knowledge{}, fmt.Errorf("these files are no knowledge base: %w", err)
	}
	var k Knowledge
	wrong := rulefile.Decode(KnowledgeFile, content, &k)
	switch { // a newer form may have more in this file, so that the number is looked at first
	case k.Format > Format:
		return k, fmt.Errorf("the knowledge of %s is %w: its format is %d, and triage %s reads up to %d; install a newer triage",
			k.Version, ErrTooNew, k.Format, release.Program(), Format)
	case wrong != nil:
		return k, wrong
	case k.Format < 1 || !IsVersion(k.Version):
		return k, fmt.Errorf("%s: it needs a version, which is a day as 2026.11.23, and a format, which is a number from 1", KnowledgeFile)
	}
	return k, nil
}

// Version is the version of the knowledge, with "+own" when rules of somebody's own were added, and "own" when there are no others.
func (b *Base) Version() string { return b.version }

func versionOf(layers []fs.FS) string {
	k, err := ReadKnowledge(layers[0])
	switch {
	case err != nil:
		return "own"
	case len(layers) > 1:
		return k.Version + "+own"
	}
	return k.Version
}
