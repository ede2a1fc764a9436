package live

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxPackages bounds the distributions read from one folder.
const maxPackages = 20_000

// readPackages lists the distributions in the folders of p. A folder that cannot be read is an error, told after the others.
func (p *Python) readPackages() error {
	var failed error
	seen := map[string]bool{}
	for _, folder := range p.Folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			failed = err
		}
		if len(entries) > maxPackages {
			entries, failed = entries[:maxPackages], fmt.Errorf("%s: more than %d entries, the rest was not read", folder, maxPackages)
		}
		var here []string
		for _, entry := range entries {
			name, version, ok := distribution(folder, entry.Name())
			if !ok {
				continue
			}
			p.Packages = append(p.Packages, Package{Name: name, Version: version, Folder: folder, Hidden: seen[name]})
			here = append(here, name)
		}
		for _, name := range here {
			seen[name] = true
		}
	}
	slices.SortStableFunc(p.Packages, func(a, b Package) int { return strings.Compare(a.Name, b.Name) })
	return failed
}

// distribution reads the name and version of the distribution that an entry of a package folder describes. The version is the one
// in the metadata, or the one in the entry's name when the metadata cannot be read.
func distribution(folder, entry string) (name, version string, ok bool) {
	kind := filepath.Ext(entry)
	var metadata string
	switch kind {
	case ".dist-info":
		metadata = filepath.Join(folder, entry, "METADATA")
	case ".egg-info":
		metadata = filepath.Join(folder, entry, "PKG-INFO")
		if info, err := os.Stat(filepath.Join(folder, entry)); err == nil && info.Mode().IsRegular() {
			metadata = filepath.Join(folder, entry)
		}
	default:
		return "", "", false
	}
	name, version = readMetadata(metadata)
	if name == "" || version == "" {
		parts := strings.SplitN(strings.TrimSuffix(entry, kind), "-", 3)
		if len(parts) < 2 {
			return "", "", false
		}
		name, version = parts[0], parts[1]
	}
	return normalName(name), clip(version, 100), true
}

// readMetadata reads the headers of a METADATA or PKG-INFO file.
func readMetadata(path string) (name, version string) {
	file, err := os.Open(path)
	if err != nil {
		return "", ""
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	for lines := 0; scanner.Scan() && lines < 200; lines++ {
		line := scanner.Text()
		if line == "" {
			break // the description follows
		}
		if value, ok := strings.CutPrefix(line, "Name:"); ok {
			name = strings.TrimSpace(value)
		}
		if value, ok := strings.CutPrefix(line, "Version:"); ok {
			version = strings.TrimSpace(value)
		}
		if name != "" && version != "" {
			break
		}
	}
	return name, version
}

var nameSeparators = regexp.MustCompile(`[-_.]+`)

// normalName is the name as PyPI compares it.
func normalName(name string) string {
	return strings.ToLower(nameSeparators.ReplaceAllString(strings.TrimSpace(name), "-"))
}
