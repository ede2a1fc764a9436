package matcher_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/gpu-triage/triage/matcher/scan/corpus"
)

// BenchmarkRead measures the whole reading of a log with the shipped knowledge, and that of one in which every line nearly matches.
func BenchmarkRead(b *testing.B) {
	engine, _ := known(b)
	for _, kind := range []corpus.Kind{corpus.Ordinary, corpus.Adversarial} {
		var log bytes.Buffer
		if err := corpus.Write(&log, 32_000_000, kind, 1); err != nil {
			b.Fatal(err)
		}
		b.Run(string(kind), func(b *testing.B) {
			b.SetBytes(int64(log.Len()))
			for b.Loop() {
				if err := engine.Begin().Read(context.Background(), "train.log", bytes.NewReader(log.Bytes())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
