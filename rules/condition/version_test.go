package condition

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	pep440 "github.com/aquasecurity/go-pep440-version"
)

// TestVersionOrder checks the order of the keys against the library that parses versions, over the forms that packages really have.
func TestVersionOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and in one goroutine, of which the race detector would tell nothing")
	}
	texts := []string{"2.7.4.post1+25.6", "2.8.3+cu13", "2.8.3", "2.8.3.post1", "2.8.4", "2.6.0a0+ecf3bae40a.nv25.01", "4.0.0b8", "4.0.0b24",
		"2.4.0.dev0", "2.4.0.dev0+abc", "2.4", "2.4.0.0", "1!0.1", "v2.0", "1.0a1.dev3", "1.0a1.post2.dev3", "1.0rc1", "1.0+1.2", "1.0+1.a", "1.0+1",
		"9.10.2", "9.10.2.21", "0", "00.0", "1.0-1"}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	for range 400 {
		text := strconv.Itoa(random.IntN(3))
		for range random.IntN(3) {
			text += "." + strconv.Itoa(random.IntN(12))
		}
		texts = append(texts, text+pick("", "", "a1", "b2", "rc10")+pick("", "", ".post1", ".post12")+pick("", "", ".dev4")+pick("", "", "+cu12", "+1.10", "+1.a.2"))
	}
	for _, a := range texts {
		for _, b := range texts {
			va, vb := mustVersion(t, a), mustVersion(t, b)
			pa, pb := pep440.MustParse(a), pep440.MustParse(b)
			if got, want := cmp.Compare(va.Compare(vb), 0), pa.Compare(pb); got != want {
				t.Fatalf("%s against %s: %d, pep440 says %d", a, b, got, want)
			}
		}
	}
}

func TestVersionParts(t *testing.T) {
	for text, want := range map[string]string{"2.8.3+cu13": "2.8.3 2.8.3 2.8.3", "2.7.4.post1+25.6": "2.7.4 2.7.4.post1 2.7.4", "9.10.2.21": "9.10.2.21 9.10.2.21 9.10.2", "9.8": "9.8 9.8 9.8"} {
		v := mustVersion(t, text)
		if got := strings.Join([]string{v.Release().String(), v.public().String(), v.Truncate(3).String()}, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func mustVersion(t *testing.T, text string) Version {
	t.Helper()
	v, err := ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
