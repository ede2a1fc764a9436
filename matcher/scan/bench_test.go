package scan

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/scan/corpus"
)

// failures are literals as a knowledge base has them.
func failures(b *testing.B) []Literal {
	list, err := os.ReadFile("../../cmd/bench/literals.txt")
	if err != nil {
		b.Fatal(err)
	}
	var all []Literal
	for line := range strings.Lines(string(list)) {
		all = append(all, Literal{Text: strings.TrimSuffix(line, "\n")})
	}
	return all
}

// BenchmarkLines measures the pass over one thread's memory, with and without literals that force short strides.
func BenchmarkLines(b *testing.B) {
	var log bytes.Buffer
	if err := corpus.Write(&log, 16_000_000, corpus.Ordinary, 1); err != nil {
		b.Fatal(err)
	}
	for _, short := range []string{"", "softcap", "NVLink", ": nan"} {
		literals := failures(b)
		if short != "" {
			literals = append(literals, Literal{Text: short})
		}
		set, err := New(literals)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("stride=%d", set.stride), func(b *testing.B) {
			hits := 0
			b.SetBytes(int64(log.Len()))
			for b.Loop() {
				hits = 0
				for data := log.Bytes(); len(data) > 0; {
					n := min(len(data), 256<<10)
					set.Lines(data[:n], func(Hit) bool { hits++; return true })
					data = data[n:]
				}
			}
			b.ReportMetric(float64(hits)/float64(log.Len())*1e6, "hits/MB")
		})
	}
	b.Run("copy", func(b *testing.B) {
		buf := make([]byte, 256<<10)
		b.SetBytes(int64(log.Len()))
		for b.Loop() {
			for data := log.Bytes(); len(data) > 0; {
				data = data[copy(buf, data):]
			}
		}
	})
}
