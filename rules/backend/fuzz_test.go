package backend

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/rules/condition"
)

// FuzzLibrary reads damaged rule files: the answer is a library or problems with places, never a crash.
func FuzzLibrary(f *testing.F) {
	v := vocabulary(f)
	for _, name := range []string{"torch_sdpa/library.yaml", "transformer_engine/library.yaml", "transformer_engine/unfused.yaml"} {
		content, err := fs.ReadFile(shipped, "backends/"+name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte("library: x\nversion: torch\nreleases: ['1.0']\nfacts: {torch: {}}\nbackends: [{name: A}]\nrules: [{id: r, off: A, filter: f, when: 'true', because: b, source: s, tells: {'': 1}}]\nfilters: [f]\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		libraries, err := Load(v, fstest.MapFS{"backends/x/library.yaml": {Data: content}})
		if err != nil {
			return
		}
		for _, l := range libraries {
			selection := l.Evaluate(map[string]condition.Value{})
			if len(selection.Backends) == 0 {
				t.Error("a library without backends")
			}
			l.Changes(map[string]condition.Value{}, 1)
		}
	})
}
