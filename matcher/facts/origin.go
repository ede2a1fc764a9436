package facts

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/pattern"
)

// LogOrigin is what logs say of where and when they were written, so that they can be compared with a machine.
type LogOrigin struct {
	Hosts   []string          // named by NCCL and by launchers, sorted
	Library []traceback.Frame // frames in installed packages under absolute paths, with the source line that was printed
	Last    time.Time         // the latest full timestamp, zero when there is none
	Facts   map[string]Fact   // what the logs state
}

// Bounds of what is kept.
const (
	maxHosts         = 64
	maxLibraryFrames = 16
)

// OriginCollector collects a LogOrigin while logs are read: from the sample and the last lines of each, and from what happened in it.
type OriginCollector struct {
	hosts  map[string]bool
	frames []traceback.Frame
	last   time.Time
}

// hostWriter is a writer that is known by its host and process.
var hostWriter = pattern.Lazy(`^([A-Za-z0-9][\w.-]*):\d+$`)

// Line takes in the time and the writer of a line.
func (c *OriginCollector) Line(line logline.Line) {
	if line.Time.Year() > 1970 && line.Time.After(c.last) {
		c.last = line.Time
	}
	if !strings.Contains(line.Writer, ":") {
		return
	}
	if m := hostWriter().FindStringSubmatch(line.Writer); m != nil {
		c.host(m[1])
	}
}

// Exception takes in the hosts and frames that an exception names.
func (c *OriginCollector) Exception(x *traceback.Exception) {
	c.Line(x.Line)
	for _, f := range x.Failures {
		c.host(f.Host)
	}
	for _, f := range x.Frames {
		known := slices.ContainsFunc(c.frames, func(g traceback.Frame) bool { return g.File == f.File })
		if len(c.frames) < maxLibraryFrames && !known && inPackage(f) {
			c.frames = append(c.frames, f)
		}
	}
}

// inPackage tells whether a frame is one of an installed package, with its line of code.
func inPackage(f traceback.Frame) bool {
	return f.Code != "" && path.IsAbs(f.File) && strings.Contains(f.File, "-packages/")
}

// maxHostName is the length of the longest host name, in bytes (RFC 1035).
const maxHostName = 253

func (c *OriginCollector) host(name string) {
	if name == "" || strings.HasPrefix(name, "localhost") || len(name) > maxHostName || len(c.hosts) >= maxHosts {
		return
	}
	if c.hosts == nil {
		c.hosts = make(map[string]bool)
	}
	c.hosts[name] = true
}

// Summary is what was collected, with the facts that the logs state.
func (c *OriginCollector) Summary(stated map[string]Fact) LogOrigin {
	return LogOrigin{Hosts: slices.Sorted(maps.Keys(c.hosts)), Library: c.frames, Last: c.last, Facts: stated}
}
