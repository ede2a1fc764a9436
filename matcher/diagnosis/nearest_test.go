package diagnosis

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct{ got, list, want string }{
		{"'validaton'", "['train', 'validation', 'test']", "validation"},
		{"lora", "loha, lokr, LoRA", "LoRA"},
		{"wide.pt", `['sd15\\wide.pt', 'sd15\\narrow.pt']`, `sd15\\wide.pt`},
		{"train", "['test']", ""},
		{"1.2.0", "1.1.0, 1.2.0.post1, 1.2.0.post2, 1.2.1", "1.2.0.post2"},
		{"test", "['train', 'test']", ""},
		{"sdpa", "eager or flash_attention_2", ""},
		{"'flash_attn_2'", "eager, sdpa, flash_attention_2", "flash_attention_2"},
		{"", "['train']", ""},
		{"train", "", ""},
		{strings.Repeat("a", 1000), strings.Repeat("b, ", 100_000), ""},
	} {
		if got := nearest(c.got, c.list); got != c.want {
			t.Errorf("nearest(%.20q, %.40q) = %q, want %q", c.got, c.list, got, c.want)
		}
	}
}
