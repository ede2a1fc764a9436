package spelling

import "testing"

func TestNearest(t *testing.T) {
	for _, c := range []struct{ word, candidates, want string }{
		{"kernal", "kernel", "kernel"},
		{"sdap", "sdpa", "sdpa"},
		{"eager", "flash_attention_2", ""},
		{"", "kernel", ""},
	} {
		if got := Nearest(c.word, []string{c.candidates}); got != c.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", c.word, c.candidates, got, c.want)
		}
	}
}

func TestMeant(t *testing.T) {
	for _, c := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"AutoModelForCasualLM", []string{"AutoModelForCausalLM", "AutoModelForMaskedLM"}, "AutoModelForCausalLM"},
		{"tenosr", []string{"sensor", "Tensor", "tensor"}, "tensor"},
		{"Discreet", []string{"discrete", "Discrete"}, "Discrete"},
		{"aray", []string{"array", "arange"}, "array"},
		{"Conv2d", []string{"Conv2D", "Conv1D"}, "Conv2D"},
		{"group_by", []string{"groupby"}, "groupby"},
		{"zerograd", []string{"zero_grad"}, "zero_grad"},
		{"MolFromSimles", []string{"MolFromSmiles", "MolFromSmarts"}, "MolFromSmiles"},
		{"Qwen3Config", []string{"Qwen2Config"}, ""}, // another generation
		{"madd", []string{"add", "max"}, ""},         // too short
		{"loader", []string{"leader", "loaded"}, ""}, // two are as near
		{"MambaConfig", []string{"BambaConfig"}, ""}, // another first letter
		{"KilnConfig", []string{"FilmConfig"}, ""},   // two letters
		{"predict", []string{"_predict"}, ""},        // not for others
		{"", []string{"", "a"}, ""},
		{"softmax", []string{"softmax"}, ""},            // itself
		{"flash_attn_func", []string{"flash_attn"}, ""}, // another name
	} {
		if got := Meant(c.word, c.candidates); got != c.want {
			t.Errorf("Meant(%q, %q) = %q, want %q", c.word, c.candidates, got, c.want)
		}
	}
}
