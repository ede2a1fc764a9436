package matcher

import "strings"

// keywords finds which of many literals a text contains. Each literal has at least gram bytes.
type keywords struct {
	literals []string
	byGram   map[uint32][]int // numbers of the literals that begin with these bytes
	begins   [1 << 16]bool    // the first two bytes of the literals
}

const gram = 4

func newKeywords(literals []string) *keywords {
	k := &keywords{literals: literals, byGram: make(map[uint32][]int)}
	for i, l := range literals {
		if len(l) < gram {
			continue // the loader refuses them
		}
		g := gramOf(l)
		k.byGram[g] = append(k.byGram[g], i)
		k.begins[uint16(g)] = true
	}
	return k
}

func gramOf(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// find calls yield with the number of each literal in the text; one that stands there twice may be given twice.
func (k *keywords) find(text string, yield func(int)) {
	for i := 0; i+gram <= len(text); i++ {
		if !k.begins[uint16(text[i])|uint16(text[i+1])<<8] {
			continue
		}
		for _, n := range k.byGram[gramOf(text[i:])] {
			if strings.HasPrefix(text[i:], k.literals[n]) {
				yield(n)
			}
		}
	}
}
