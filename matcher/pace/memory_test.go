package pace

import "testing"

func TestMemoryIn(t *testing.T) {
	const gib = 1 << 30
	for text, want := range map[string]float64{
		"61.5GiB": 61.5 * gib, "61.5 GB": 61.5 * gib, "512M": 0.5 * gib, "2T": 2048 * gib, "61.5": 61.5 * gib, "15360": 15 * gib,
		"": 0, "GiB": 0, "0": 0, "-3 GB": 0, "1e300 GB": 0, "3 KiB": 3 << 10, "7 B": 7, "1..2G": 0,
	} {
		if got := memoryIn(text); got != want {
			t.Errorf("memoryIn(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		memory []float64
		want   string
	}{
		"leak":          {[]float64{10, 20, 31, 40, 52}, "10.0 GiB in step 0 to 52.0 GiB in step 4"},
		"late":          {[]float64{10, 10, 10, 40, 75}, "10.0 GiB in step 0 to 75.0 GiB in step 4"},
		"first steps":   {[]float64{10, 52, 52, 52, 52}, ""},
		"peak":          {[]float64{10, 30, 40, 42, 42}, ""},
		"steady":        {[]float64{40, 40.1, 40.2, 40.1, 40.3}, ""},
		"up and down":   {[]float64{10, 40, 12, 45, 11, 50}, ""},
		"few":           {[]float64{10, 40, 70}, ""},
		"none":          {nil, ""},
		"shrinking":     {[]float64{50, 40, 30, 20}, ""},
		"not told once": {[]float64{10, 20, 0, 30, 42}, "10.0 GiB in step 0 to 42.0 GiB in step 4"},
	} {
		var marks []mark
		for i, gib := range c.memory {
			marks = append(marks, mark{step: step{number: float64(i), memory: gib * (1 << 30)}})
		}
		got := ""
		if g := growth(marks); g != nil {
			got = g.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
