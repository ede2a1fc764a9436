package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/bundle"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// ruleFlags say which knowledge is used: what was shipped or a newer bundle, then the user's own rules, those that TRIAGE_RULES names, and
// those of --rules.
type ruleFlags struct {
	dirs     []string
	noUpdate bool
}

func (f *ruleFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.dirs, "rules", nil, "`DIR` with more rules; they replace others of the same id (repeatable; TRIAGE_RULES names more)")
	cmd.Flags().BoolVar(&f.noUpdate, "no-update", false, "leave out what triage rules update brought")
	_ = cmd.MarkFlagDirname("rules")
}

// layer is one folder of rules. The built-in one has the name that it has in the repository.
type layer struct {
	dir   string
	files fs.FS
}

// layers are the folders of rules, each adding to those before it.
func (f *ruleFlags) layers() ([]layer, error) {
	first, err := f.first()
	if err != nil {
		return nil, err
	}
	layers := []layer{first}
	for _, own := range f.own() {
		info, err := os.Stat(own.dir)
		if own.mayLack && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s: not a folder; name the one that holds the rules", own.dir)
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer{dir: own.dir, files: os.DirFS(own.dir)})
	}
	return layers, nil
}

// files are those of the layers.
func (f *ruleFlags) files() ([]fs.FS, error) {
	layers, err := f.layers()
	if err != nil {
		return nil, err
	}
	var files []fs.FS
	for _, l := range layers {
		files = append(files, l.files)
	}
	return files, nil
}

// first is the knowledge that the others add to.
func (f *ruleFlags) first() (layer, error) {
	shipped := layer{dir: "rules", files: rules.Shipped()}
	if f.noUpdate {
		return shipped, nil
	}
	folder, err := bundleFolder()
	if err != nil { // a machine without a home has no bundles
		return shipped, nil
	}
	newer, err := bundle.Store{Dir: folder}.Current()
	if err != nil {
		return layer{}, fmt.Errorf("%w, and --no-update leaves it out", err)
	}
	if newer == nil {
		return shipped, nil
	}
	return layer{dir: "rules", files: newer.Files}, nil
}

// ownFolder is a folder of somebody's own rules.
type ownFolder struct {
	dir     string
	mayLack bool
}

// own are the folders of rules that are not of triage.
func (f *ruleFlags) own() []ownFolder {
	var own []ownFolder
	if folder := userFolder("XDG_CONFIG_HOME", os.UserConfigDir); folder != "" {
		own = append(own, ownFolder{filepath.Join(folder, "triage", "rules"), true})
	}
	for _, dir := range filepath.SplitList(os.Getenv("TRIAGE_RULES")) {
		if dir != "" {
			own = append(own, ownFolder{dir, false})
		}
	}
	for _, dir := range f.dirs {
		own = append(own, ownFolder{dir, false})
	}
	return own
}

// bundleFolder is where bundles are kept.
func bundleFolder() (string, error) {
	folder := userFolder("XDG_DATA_HOME", dataFolder)
	if folder == "" {
		return "", errors.New("there is no folder for data: set HOME or XDG_DATA_HOME")
	}
	return filepath.Join(folder, "triage", "knowledge"), nil
}

// userFolder is the folder that a variable of https://specifications.freedesktop.org/basedir-spec names, or else the system's usual one;
// "" when there is neither. The variables count on every system, for whoever sets them.
func userFolder(variable string, usual func() (string, error)) string {
	if folder := os.Getenv(variable); filepath.IsAbs(folder) {
		return folder
	}
	folder, err := usual()
	if err != nil {
		return ""
	}
	return folder
}

// dataFolder is where the system has data of its user.
func dataFolder() (string, error) {
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // %LocalAppData%
	case "darwin":
		return os.UserConfigDir() // ~/Library/Application Support
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share"), err
}

// load reads the knowledge base.
func (f *ruleFlags) load() (*rules.Base, error) { return f.read(rules.Open) }

// read is load in one of the two ways: rules.Load looks at every file for mistakes, rules.Open trusts those that were shipped.
func (f *ruleFlags) read(open func(...fs.FS) (*rules.Base, error)) (base *rules.Base, err error) {
	layers, err := f.layers()
	if err != nil {
		return nil, err
	}
	err = stack(layers, func(files []fs.FS) error {
		base, err = open(files...)
		return err
	})
	return base, err
}

// loadLibraries reads the knowledge base and the backend rules in it.
func (f *ruleFlags) loadLibraries() (base *rules.Base, libraries []*backend.Library, err error) {
	base, err = f.load()
	if err != nil {
		return nil, nil, err
	}
	layers, err := f.layers()
	if err != nil {
		return nil, nil, err
	}
	err = stack(layers, func(files []fs.FS) error {
		libraries, err = backend.Load(base.Vocabulary, files...)
		return err
	})
	return base, libraries, err
}

// loadLibrary reads the knowledge base and the backend rules of one library; nil where there are none. The names are those of all.
func (f *ruleFlags) loadLibrary(name string) (base *rules.Base, library *backend.Library, names []string, err error) {
	base, err = f.load()
	if err != nil {
		return nil, nil, nil, err
	}
	layers, err := f.layers()
	if err != nil {
		return nil, nil, nil, err
	}
	err = stack(layers, func(files []fs.FS) error {
		names, err = backend.LibraryNames(files...)
		if err != nil {
			return err
		}
		library, err = backend.LoadLibrary(base.Vocabulary, name, files...)
		return err
	})
	return base, library, names, err
}

// stack loads the first folder, then the first two and so on, so that a mistake can be told by the folder that brings it in.
func stack(layers []layer, load func([]fs.FS) error) error {
	var files []fs.FS
	for _, l := range layers {
		files = append(files, l.files)
		err := load(files)
		var problems rulefile.Problems
		if errors.As(err, &problems) {
			for i := range problems {
				problems[i].File = filepath.Join(l.dir, filepath.FromSlash(problems[i].File))
			}
			return problems
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// located is where the user finds a file: in the last of the folders that has it.
func located(layers []layer, file string) string {
	for _, l := range slices.Backward(layers) {
		if _, err := fs.Stat(l.files, file); err == nil {
			return filepath.Join(l.dir, filepath.FromSlash(file))
		}
	}
	return file
}
