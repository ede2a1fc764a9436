package fact

import (
	"os"
	"testing"

	"github.com/gpu-triage/triage/rules/rulefile"
)

// TestInfer tells compute capabilities from GPU names as nvidia-smi, clouds and people write them, and CUDA from torch's version.
func TestInfer(t *testing.T) {
	d := &rulefile.Decoder{}
	vocabulary, err := Read(d, os.DirFS(".."), nil)
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	for _, c := range []struct{ from, text, fact, want string }{
		{"gpu", "Tesla V100S-PCIE-32GB", "sm", "70"},
		{"gpu", "Quadro RTX 5000", "sm", "75"},
		{"gpu", "NVIDIA RTX 5000 Ada Generation", "sm", "89"},
		{"gpu", "NVIDIA A100-SXM4-80GB", "sm", "80"},
		{"gpu", "NVIDIA A10G", "sm", "86"},
		{"gpu", "NVIDIA RTX A6000", "sm", "86"},
		{"gpu", "NVIDIA GeForce RTX 4090", "sm", "89"},
		{"gpu", "NVIDIA H200", "sm", "90"},
		{"gpu", "NVIDIA GB200", "sm", "100"},
		{"gpu", "RTX 5090", "sm", "120"},
		{"gpu", "NVIDIA RTX PRO 6000 Blackwell Server Edition", "sm", "120"},
		{"gpu", "AMD Instinct MI300X", "sm", ""},
		{"torch", "2.7.1+cu126", "cuda", "12.6"},
		{"torch", "2.7.1", "cuda", ""},
	} {
		from, err := vocabulary.Parse(c.from, c.text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, i := range vocabulary.Inferences {
			if v, ok := i.Infer(from); ok && i.From == c.from && i.Fact == c.fact {
				got = v.String()
				break
			}
		}
		if got != c.want {
			t.Errorf("%s %q: %s is %q, want %q", c.from, c.text, c.fact, got, c.want)
		}
	}
}
