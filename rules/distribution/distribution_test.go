package distribution_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/distribution"
	"github.com/gpu-triage/triage/rules/rulefile"
)

func TestShipped(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	for module, want := range map[string]distribution.Distribution{
		"einops":                       {Install: "einops"},
		"sentence_transformers":        {Install: "sentence-transformers"},
		"sklearn.metrics":              {Install: "scikit-learn", Say: "The name sklearn in the package index is a placeholder that does not install."},
		"scikit-learn":                 {Install: "scikit-learn", Say: "The name sklearn in the package index is a placeholder that does not install."},
		"mamba_ssm":                    {Install: "mamba-ssm", WithTorch: true},
		"google.protobuf":              {Install: "protobuf"},
		"utils":                        {Own: true},
		"LoraConfig":                   {Install: "peft"},
		"bnb":                          {Install: "bitsandbytes"},
		"tinycudann":                   {Repository: "https://github.com/NVlabs/tiny-cuda-nn", Within: "bindings/torch", WithTorch: true},
		"bin/lm_eval":                  {Install: "lm-eval"},
		"bin/ffprobe":                  {System: "ffmpeg", Say: "The Python packages ffmpeg and ffmpeg-python do not bring the program."},
		"bin/no-such":                  {},
		"include/GL/osmesa.h":          {System: "libosmesa6-dev"},
		"include/opencv2/core/mat.hpp": {System: "libopencv-dev"},
		"lib/libGL.so.1":               {System: "libgl1"},
		"lib/libGLfoo.so.1":            {},
		"google":                       {},
		"no_such_module":               {},
	} {
		got, known := base.Distributions.Of(module)
		if diff := cmp.Diff(want, got); diff != "" || known == (want == distribution.Distribution{}) {
			t.Errorf("%s, known %t: %s", module, known, diff)
		}
	}
	if d, _ := base.Distributions.Of("tinycudann"); d.Folder() != "tiny-cuda-nn/bindings/torch" {
		t.Error(d.Folder())
	}
}

func TestLayers(t *testing.T) {
	read := func(install string) *distribution.Table {
		return distribution.Read(&rulefile.Decoder{}, []byte("distributions: [{modules: [tea], install: "+install+"}]\nsame: [only_"+install+"]\n"))
	}
	var none *distribution.Table
	table := read("mine").Before(read("theirs").Before(none))
	for module, want := range map[string]string{"tea": "mine", "only_mine": "only-mine", "only_theirs": "only-theirs"} {
		if got, _ := table.Of(module); got.Install != want {
			t.Errorf("%s: %s", module, got.Install)
		}
	}
}

func TestMistakes(t *testing.T) {
	d := &rulefile.Decoder{}
	distribution.Read(d, []byte(`same: [tea, tea]
own: ["a b"]
distributions:
  - {modules: [kettle], install: "kettle; curl x"}
  - {modules: [cup], repository: "http://x/y"}
  - {modules: [pot]}
  - {install: pan}
programs:
  - {names: [spoon, "a b"], install: spoon}
  - {names: [fork], system: "x; y"}
  - {names: [spoon], install: spoon}
  - {names: [knife]}
`))
	told := d.Problems.Error()
	for _, want := range []string{"distributions.yaml:1:13: the module tea stands here twice", `:2:8: "a b" is no name of a module`, ":4:35:", "is nothing that pip takes by name",
		":5:35:", "no https address", ":6:16: a row needs install:, repository: or say:", ":7:15: a row needs modules:", `"a b" is no name of a file`, "no names of packages of a system", "bin/spoon stands here twice",
		"a row needs install:, system: or say:"} {
		if !strings.Contains(told, want) {
			t.Errorf("the problems do not say %q: %s", want, told)
		}
	}
}
