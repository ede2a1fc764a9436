package release

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	number = "1.3.0\n"
	git := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "false"}}
	changed := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"}}
	for name, test := range map[string]struct {
		tag, module string
		settings    []debug.BuildSetting
		want        string
	}{
		"released":          {tag: "v1.2.3", module: "v1.2.2-0.20261123000000-0123456789ab", settings: git, want: "1.2.3"},
		"go install":        {module: "v1.2.3", want: "1.2.3"},
		"in a clone":        {module: "v0.0.0-20261123000000-0123456789ab", settings: git, want: "1.3.0-dev+0123456789ab"},
		"at a tag":          {module: "v1.3.0", settings: git, want: "1.3.0"},
		"changed at a tag":  {module: "v1.3.0+dirty", settings: changed, want: "1.3.0-dev+0123456789ab.changed"},
		"in a changed one":  {module: "v0.0.0-20261123000000-0123456789ab+dirty", settings: changed, want: "1.3.0-dev+0123456789ab.changed"},
		"without git":       {module: "(devel)", want: "1.3.0-dev"},
		"without buildinfo": {want: "1.3.0-dev"},
	} {
		got := version(test.tag, &debug.BuildInfo{Main: debug.Module{Version: test.module}, Settings: test.settings})
		if got != test.want {
			t.Errorf("%s: %s, not %s", name, got, test.want)
		}
	}
}
