package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/bundle"
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
