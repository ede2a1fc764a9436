package live

import (
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Library is a shared library file that programs on this machine may load.
type Library struct {
	Fact    string `json:"fact"` // the fact of the vocabulary that it decides: "cudnn"
	File    string `json:"file"` // libcudnn.so.9
	Path    string `json:"path"`
	Version string `json:"version,omitempty"` // "9.14.0"; empty when neither the file's name nor a package tells
	// From says who would find it: "loaded" by a process that uses a GPU now, a Python "package", LD_LIBRARY_PATH, or the "system".
	From string `json:"from"`
}

// The values of Library.From, the first being the surest.
const (
	fromLoaded  = "loaded"
	fromPackage = "package"
	fromPath    = "LD_LIBRARY_PATH"
	fromSystem  = "system"
)

// readLibraries looks for the library files of the vocabulary everywhere a job would: in memory of the processes that use a GPU, in
// the Python environment's packages, in LD_LIBRARY_PATH and in the loader's cache.
func (s *system) readLibraries(ctx context.Context, m *Machine) error {
	wanted := s.vocabulary.Libraries()
	add := func(path, from string) {
		file := filepath.Base(path)
		stem, _, ok := strings.Cut(file, ".so")
		fact := wanted[stem]
		if !ok || fact == "" {
			return
		}
		same := func(l Library) bool { return l.From == from && sameFile(l.Path, path) }
		if slices.ContainsFunc(m.Libraries, same) || len(m.Libraries) > 500 {
			return
		}
		version := fileVersion(path)
		if folder, inside := wheelOf(path); version == "" && inside {
			version = s.packageVersion(m.Python, fact, folder)
		}
		m.Libraries = append(m.Libraries, Library{Fact: fact, File: file, Path: path, Version: version, From: from})
	}
	s.loaded(m, add)
	m.ownPath = s.ownPaths(m.Python)
	if m.Python != nil {
		for _, folder := range m.Python.Folders {
			for stem := range wanted {
				matches, _ := filepath.Glob(filepath.Join(folder, "nvidia", "*", "lib", stem+".so*"))
				for _, path := range matches {
					add(path, fromPackage)
				}
			}
		}
	}
	path, _ := s.variable("LD_LIBRARY_PATH")
	for _, folder := range filepath.SplitList(path) {
		for stem := range wanted {
			matches, _ := filepath.Glob(filepath.Join(folder, stem+".so*"))
			for _, path := range matches {
				add(path, fromPath)
			}
		}
	}
	out, err := s.program(ctx, "ldconfig", "-p")
	for line := range strings.Lines(string(out)) {
		if _, path, ok := strings.Cut(strings.TrimSpace(line), " => "); ok {
			add(s.path(path), fromSystem)
		}
	}
	slices.SortStableFunc(m.Libraries, func(a, b Library) int { return strings.Compare(a.Fact+a.File, b.Fact+b.File) })
	return err
}

// ownPaths tells which libraries are found by a path that stands in the file that loads them: DT_RPATH without DT_RUNPATH (ld.so(8)).
func (s *system) ownPaths(python *Python) map[string]bool {
	own := map[string]bool{}
	if python == nil {
		return own
	}
	for fact, loader := range s.vocabulary.Loaders() {
		for _, folder := range python.Folders {
			file, err := elf.Open(filepath.Join(folder, loader))
			if err != nil {
				continue
			}
			before, _ := file.DynString(elf.DT_RPATH)
			after, _ := file.DynString(elf.DT_RUNPATH)
			own[fact] = len(before) > 0 && len(after) == 0
			file.Close()
			break // the first folder is the one that Python imports from
		}
	}
	return own
}

// loaded finds the libraries in memory of the processes that use a GPU.
func (s *system) loaded(m *Machine, add func(path, from string)) {
	for _, gpu := range m.GPUs {
		for _, process := range gpu.Processes {
			for _, path := range s.mapped(process.PID) {
				add(path, fromLoaded)
			}
		}
	}
}

// mapped lists the shared libraries in a process's memory; none where /proc does not let us look.
func (s *system) mapped(pid int) []string {
	data, err := os.ReadFile(s.path("/proc/" + strconv.Itoa(pid) + "/maps"))
	if err != nil {
		return nil
	}
	var paths []string
	for line := range strings.Lines(string(data)) {
		at := strings.IndexByte(line, '/')
		if at < 0 || !strings.Contains(line[at:], ".so") {
			continue
		}
		if path := strings.TrimSpace(line[at:]); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

var soVersion = regexp.MustCompile(`\.so\.(\d+\.\d+(?:\.\d+)*)$`)

// fileVersion is the version in the name of the file that path leads to: libcudnn.so.9 is a link to libcudnn.so.9.14.0.
func fileVersion(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	if m := soVersion.FindStringSubmatch(filepath.Base(real)); m != nil {
		return m[1]
	}
	return ""
}

// wheelOf tells the package folder of a library inside a wheel of NVIDIA's: FOLDER/nvidia/cudnn/lib/libcudnn.so.9.
func wheelOf(path string) (folder string, ok bool) {
	folder, rest, ok := strings.Cut(path, "/nvidia/")
	return folder, ok && strings.Contains(rest, "/lib/")
}

// packageVersion is the version of the package in folder that states the fact.
func (s *system) packageVersion(python *Python, fact, folder string) string {
	if python == nil {
		return ""
	}
	for _, p := range python.Packages {
		if name, ok := s.vocabulary.Package(p.Name); ok && name == fact && sameFile(p.Folder, folder) {
			return p.Version
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}
