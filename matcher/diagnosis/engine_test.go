package diagnosis_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// knowing is an engine that knows these signatures, each the text of its file, which begins with the id. Its only facts are rank, torch, einops and flax.
func knowing(t *testing.T, signatures ...string) *matcher.Engine {
	t.Helper()
	files := fstest.MapFS{"facts.yaml": {Data: []byte(`facts:
  - {name: rank, type: number, about: the rank, ask: echo}
  - {name: torch, type: version}
  - {name: einops, type: version, about: einops, ask: echo, packages: [einops]}
  - {name: flax, type: version, about: flax, ask: echo, packages: [flax]}
  - {name: transformers, type: version, about: Transformers, ask: echo, packages: [transformers]}
  - {name: python, type: version, about: Python, ask: echo, packages: [python]}
`)}, "distributions.yaml": {Data: []byte("distributions: [{modules: [sklearn], install: scikit-learn}, {modules: [homemade], say: It is no package.}]\n")}}
	for _, text := range signatures {
		id, _, _ := strings.Cut(strings.TrimPrefix(text, "id: "), "\n")
		files[id+".yaml"] = &fstest.MapFile{Data: []byte(text)}
	}
	base, err := rules.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return matcher.New(base)
}

// answer is what an engine says of a log.
func answer(t *testing.T, engine *matcher.Engine, log string, known ...facts.Fact) report.Report {
	t.Helper()
	job := engine.Begin()
	if err := job.Read(t.Context(), "train.log", strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	return job.Report(known...)
}

// cause is that of the first answer to a log, "" where nothing is found.
func cause(t *testing.T, engine *matcher.Engine, log string, known ...facts.Fact) string {
	t.Helper()
	if found := answer(t, engine, log, known...).Diagnoses; len(found) > 0 {
		return found[0].Cause
	}
	return ""
}
