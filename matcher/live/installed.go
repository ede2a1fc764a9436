package live

import (
	"os"
	"path/filepath"
)

// maxTextFile bounds the text files of packages that are read for facts.
const maxTextFile = 1 << 20

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
				if value := readPattern(matches[0], reader.Pattern.Regexp().FindSubmatch, reader.Pattern.Group("value")); value != "" {
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

func readPattern(path string, find func([]byte) [][]byte, group int) string {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxTextFile {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	parts := find(data)
	if parts == nil {
		return ""
	}
	return string(parts[group])
}
