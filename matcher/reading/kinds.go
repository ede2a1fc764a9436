package reading

import (
	"hash/maphash"

	"github.com/gpu-triage/triage/matcher/kind"
)

// kinds remembers what short texts are. The ranks of a job print texts that differ in nothing but digits, and what a text is does not
// depend on which digits it has.
type kinds struct {
	seed  maphash.Seed
	known map[uint64]kind.Judgement
}

// How much is remembered. Longer texts than that take their time to be read anyway.
const (
	maxKinds    = 1024
	maxKindText = 8 << 10
)

func newKinds() kinds {
	return kinds{seed: maphash.MakeSeed(), known: make(map[uint64]kind.Judgement)}
}

// of is what a text is.
func (k *kinds) of(text kind.Sample) kind.Judgement {
	if !text.Whole || len(text.Head) > maxKindText {
		return kind.Of(text)
	}
	masked := make([]byte, len(text.Head))
	for i, b := range text.Head {
		if b >= '0' && b <= '9' {
			b = '0'
		}
		masked[i] = b
	}
	key := maphash.Bytes(k.seed, masked)
	is, ok := k.known[key]
	if !ok {
		is = kind.Of(text)
		if len(k.known) < maxKinds {
			k.known[key] = is
		}
	}
	return is
}
