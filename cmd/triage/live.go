package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/rules"
)

// nearby is how long before and after the end of a log the kernel's messages are taken to have to do with it.
const nearby = 15 * time.Minute

// ofThisMachine are this machine's facts as far as they may be about the job that wrote the logs, and a sentence on what was left out or
// assumed. Mode is on, off or auto, which uses them unless something says that the logs are from elsewhere.
func ofThisMachine(ctx context.Context, mode string, base *rules.Base, log facts.LogOrigin, paths []string) (known []facts.Fact, note string) {
	unknown := mode == "auto" && len(log.Library) == 0 && len(log.Hosts) == 0
	if mode == "off" || unknown && !live.HasGPU() {
		return nil, ""
	}
	machine := live.Read(ctx, live.Options{Base: base, Python: live.PackageFolder(log)})
	end := log.Last
	if end.IsZero() {
		end = newest(paths)
	}
	machine = machine.Within(end.Add(-nearby), end.Add(nearby))
	known = machine.Known(base.Vocabulary)
	if mode == "on" {
		return known, ""
	}
	switch origin, why := machine.OriginOf(log); {
	case origin == live.Here:
		return known, ""
	case len(machine.GPUs) == 0:
		return nil, ""
	case origin == live.Elsewhere:
		return nil, "This machine's facts are left out, since " + why + "; --live on uses them."
	}
	// That a package is not here says little of a job that may have run elsewhere.
	known = slices.DeleteFunc(known, func(f facts.Fact) bool { return f.Value.JSON() == nil })
	return known, "This machine's facts are used, since nothing says that the log is from elsewhere; --live off leaves them out."
}

// newest is when the newest of the files was written, and now for standard input.
func newest(paths []string) time.Time {
	var last time.Time
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	if last.IsZero() || slices.ContainsFunc(paths, func(p string) bool { return strings.TrimSpace(p) == "-" }) {
		return time.Now()
	}
	return last
}
