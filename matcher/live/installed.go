package live

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
)

// Bounds of the files of packages that are searched for facts, in bytes.
const (
	maxSearched = 256 << 20 // of one file
	window      = 1 << 20   // at once
	overlap     = 4 << 10
)

// readInstalled reads the facts that files of the Python environment state: a version with its build tag, and the GPU
// architectures that a library was built for. A file that is not there, or that cannot be read, states nothing.
func (s *system) readInstalled(python *Python) map[string]any {
	if python == nil || s.vocabulary == nil {
		return nil
	}
	facts := map[string]any{}
	for _, reader := range s.vocabulary.Files() {
		for _, folder := range python.Folders {
			matches, _ := filepath.Glob(filepath.Join(folder, reader.Path))
			if len(matches) == 0 {
				continue
			}
			if _, known := facts[reader.Fact]; known {
				break
			}
			if reader.Pattern != nil {
				if value := s.readPattern(matches[0], reader); value != nil {
					facts[reader.Fact] = value
				}
			} else if archs, err := architectures(matches[0]); err == nil && len(archs) > 0 {
				facts[reader.Fact] = archs
			}
			break // the first folder is the one that Python imports from
		}
	}
	return facts
}

// readPattern is what a file states, nil when it does not: a text, or a list where the fact is one.
func (s *system) readPattern(path string, reader fact.InstalledFile) any {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	text := search(io.LimitReader(file, maxSearched), reader.Pattern)
	if text == "" {
		return nil
	}
	if info, _ := s.vocabulary.Fact(reader.Fact); info.Type == condition.List {
		return strings.Fields(text)
	}
	return text
}

// search is the group "value" of a pattern where it first matches, "" when it does not. A match may be as long as overlap.
func search(from io.Reader, pattern *pattern.Pattern) string {
	buffer := make([]byte, 0, window+overlap)
	for {
		n, err := io.ReadFull(from, buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if found := pattern.Regexp().FindSubmatch(buffer); found != nil {
			return string(found[pattern.Group("value")])
		}
		if err != nil {
			return ""
		}
		buffer = append(buffer[:0], buffer[len(buffer)-overlap:]...)
	}
}
