// Package release tells which release of triage this is. The number stands in program.txt, so that it is known without git, to the
// build of the Python wheel too.
package release

import (
	_ "embed"
	"runtime/debug"
	"strings"
	"sync"
)

//go:embed program.txt
var number string

// tag is the release's tag, as v1.2.3, which the linker sets in a program that is released.
var tag string

// Program is the version of this program: 1.2.3 of a release, and 1.2.3-dev+COMMIT of what is built from a clone, where the commit is
// left out when Go was not told it.
var Program = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return version(tag, info)
})

func version(tag string, info *debug.BuildInfo) string {
	settings := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	short := commit[:min(len(commit), 12)]
	module := strings.TrimPrefix(info.Main.Version, "v")
	switch {
	case tag != "":
		return strings.TrimPrefix(tag, "v")
	case module != "" && module != "(devel)" && (commit == "" || !strings.Contains(module, short) && settings["vcs.modified"] != "true"):
		return module // by go install, or at the commit of a tag; Go names others after the commit
	case commit == "":
		return strings.TrimSpace(number) + "-dev"
	}
	dirty := map[string]string{"true": ".changed"}[settings["vcs.modified"]]
	return strings.TrimSpace(number) + "-dev+" + short + dirty
}
