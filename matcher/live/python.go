package live

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Python is the environment that a job's packages come from, found without running Python.
type Python struct {
	Interpreter string `json:"interpreter,omitempty"` // "" when a folder of packages was named
	Version     string `json:"version,omitempty"`     // "3.12.3", or "3.12" when nothing tells the rest
	Kind        string `json:"kind"`                  // "venv", "conda", "system", "folder"
	// Folders are searched in Python's order: a package in an earlier one hides the same package in a later one.
	Folders  []string  `json:"folders"`
	Packages []Package `json:"packages"`
}

// Package is an installed distribution.
type Package struct {
	Name    string `json:"name"` // normalised as PyPI does: flash-attn
	Version string `json:"version"`
	Folder  string `json:"folder"`
	// Hidden says that an earlier folder has the same package.
	Hidden bool `json:"hidden,omitempty"`
}

// Package returns the distribution of that name that an import would find.
func (p *Python) Package(name string) (Package, bool) {
	if p == nil {
		return Package{}, false
	}
	at := slices.IndexFunc(p.Packages, func(q Package) bool { return q.Name == name && !q.Hidden })
	if at < 0 {
		return Package{}, false
	}
	return p.Packages[at], true
}

// readPython finds the environment and lists its packages.
func (s *system) readPython(m *Machine) error {
	python, err := s.findPython()
	if err != nil {
		return err
	}
	m.Python = python
	if len(python.Folders) == 0 {
		return fmt.Errorf("%s: no site-packages found for it; name them with --python", python.Interpreter)
	}
	return python.readPackages()
}

// findPython takes, in this order: what the user named, the interpreter that the command runs, VIRTUAL_ENV, CONDA_PREFIX, and the
// first python3 or python in PATH.
func (s *system) findPython() (*Python, error) {
	if s.python != "" {
		return s.namedPython(s.python)
	}
	if path := s.commandPython(); path != "" {
		return s.interpreter(path)
	}
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		prefix, _ := s.variable(variable)
		if path := s.inFolder(prefix); prefix != "" && path != "" {
			return s.interpreter(path)
		}
	}
	for _, name := range []string{"python3", "python"} {
		if path, err := s.find(name); err == nil {
			return s.interpreter(path)
		}
	}
	return nil, errors.New("no Python found in PATH, VIRTUAL_ENV or CONDA_PREFIX; name one with --python")
}

// namedPython accepts an interpreter, the folder of a virtual or conda environment, or a folder of packages itself.
func (s *system) namedPython(path string) (*Python, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("--python %s: %w", path, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return s.interpreter(path)
	}
	if inside := s.inFolder(path); inside != "" {
		return s.interpreter(inside)
	}
	if matches, _ := filepath.Glob(filepath.Join(path, "*.dist-info")); len(matches) > 0 {
		return &Python{Kind: "folder", Folders: []string{path}}, nil
	}
	return nil, fmt.Errorf("--python %s: neither an interpreter, nor an environment (no bin/python), nor a folder of packages", path)
}

// inFolder is the interpreter of an environment's folder, or "".
func (s *system) inFolder(prefix string) string {
	for _, name := range []string{"bin/python3", "bin/python"} {
		path := filepath.Join(prefix, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// commandPython is the interpreter that the command to run uses: itself, or the one its script names in its first line, as
// torchrun and accelerate do.
func (s *system) commandPython() string {
	if len(s.command) == 0 {
		return ""
	}
	path := s.command[0]
	if !strings.Contains(path, "/") {
		found, err := s.find(path)
		if err != nil {
			return ""
		}
		path = found
	}
	if strings.HasPrefix(filepath.Base(path), "python") {
		return path
	}
	words := shebang(path)
	if len(words) > 1 && filepath.Base(words[0]) == "env" {
		if found, err := s.find(words[len(words)-1]); err == nil {
			words = []string{found}
		}
	}
	if len(words) == 0 || !strings.HasPrefix(filepath.Base(words[0]), "python") {
		return ""
	}
	return words[0]
}

// shebang returns the words after #! in a script's first line.
func shebang(path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	line, _ := bufio.NewReaderSize(file, 512).ReadSlice('\n')
	text, found := strings.CutPrefix(string(line), "#!")
	if !found {
		return nil
	}
	return strings.Fields(text)
}

// interpreter works out where the interpreter at path looks for packages.
func (s *system) interpreter(path string) (*Python, error) {
	path = s.behindShim(path)
	prefix := filepath.Dir(filepath.Dir(path))
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	python := &Python{Interpreter: path, Kind: "system"}
	config := readConfig(filepath.Join(prefix, "pyvenv.cfg"))
	base := filepath.Dir(filepath.Dir(real))
	if len(config) > 0 {
		python.Kind = "venv"
		if config["home"] != "" {
			base = filepath.Dir(config["home"])
		}
	} else if conda, _ := filepath.Glob(filepath.Join(prefix, "conda-meta", "python-*.json")); len(conda) > 0 {
		python.Kind = "conda"
	}
	minor := minorVersion(real, prefix, base)
	python.Version = fullVersion(config, prefix, base, minor)
	python.Folders = s.folders(python.Kind, config, prefix, base, minor)
	return python, nil
}

// behindShim finds the interpreter that a pyenv shim would start.
func (s *system) behindShim(path string) string {
	root := filepath.Dir(filepath.Dir(path))
	if filepath.Base(filepath.Dir(path)) != "shims" {
		return path
	}
	version, _ := s.variable("PYENV_VERSION")
	for _, file := range []string{".python-version", filepath.Join(root, "version")} {
		if version == "" {
			data, _ := os.ReadFile(file)
			version = firstLine(data)
		}
	}
	version, _, _ = strings.Cut(version, ":")
	if real := s.inFolder(filepath.Join(root, "versions", version)); version != "" && real != "" {
		return real
	}
	return path
}

// readConfig reads "name = value" lines, as in pyvenv.cfg.
func readConfig(path string) map[string]string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) > 64<<10 {
		return nil
	}
	config := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, "="); ok {
			config[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return config
}

var pythonName = regexp.MustCompile(`^python(\d\.\d+)$`)

// minorVersion is "3.12": from the interpreter's own name, or from the only library folder there is.
func minorVersion(real, prefix, base string) string {
	if m := pythonName.FindStringSubmatch(filepath.Base(real)); m != nil {
		return m[1]
	}
	for _, folder := range []string{prefix, base} {
		matches, _ := filepath.Glob(filepath.Join(folder, "lib", "python3.*"))
		if len(matches) == 1 {
			return strings.TrimPrefix(filepath.Base(matches[0]), "python")
		}
	}
	return ""
}

var patchLevel = regexp.MustCompile(`(?m)^#define\s+PY_VERSION\s+"([^"]+)"`)

// fullVersion takes the first of: pyvenv.cfg, conda's record, the C headers.
func fullVersion(config map[string]string, prefix, base, minor string) string {
	for _, key := range []string{"version", "version_info"} {
		if parts := strings.Split(config[key], "."); len(parts) >= 3 {
			return strings.Join(parts[:3], ".")
		}
	}
	if matches, _ := filepath.Glob(filepath.Join(prefix, "conda-meta", "python-"+minor+"*.json")); len(matches) > 0 {
		return strings.Split(filepath.Base(matches[0]), "-")[1]
	}
	data, _ := os.ReadFile(filepath.Join(base, "include", "python"+minor, "patchlevel.h"))
	if m := patchLevel.FindSubmatch(data); m != nil {
		return strings.TrimSuffix(string(m[1]), "+")
	}
	return minor
}

// folders lists the existing folders of packages in the order of Python's own sys.path.
func (s *system) folders(kind string, config map[string]string, prefix, base, minor string) []string {
	var candidates []string
	extra, _ := s.variable("PYTHONPATH")
	candidates = append(candidates, filepath.SplitList(extra)...)
	in := func(root string, names ...string) {
		for _, name := range names {
			candidates = append(candidates, filepath.Join(root, "lib", "python"+minor, name), filepath.Join(root, "lib64", "python"+minor, name))
		}
	}
	if kind == "venv" {
		in(prefix, "site-packages")
	}
	if kind != "venv" || strings.EqualFold(config["include-system-site-packages"], "true") {
		home, _ := s.variable("HOME")
		if off, _ := s.variable("PYTHONNOUSERSITE"); off == "" && home != "" {
			in(filepath.Join(home, ".local"), "site-packages")
		}
		if base == "/usr" { // Debian's own order
			in("/usr/local", "dist-packages")
			candidates = append(candidates, "/usr/lib/python3/dist-packages")
		}
		in(base, "site-packages", "dist-packages")
	}
	var folders []string
	var seen []os.FileInfo
	for _, candidate := range candidates {
		info, err := os.Stat(candidate)
		same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		if err == nil && info.IsDir() && !slices.ContainsFunc(seen, same) {
			folders, seen = append(folders, candidate), append(seen, info)
		}
	}
	return folders
}
