package reading_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/scan/corpus"
	"github.com/gpu-triage/triage/rules"
)

// BenchmarkNew measures what every start of the program does between reading its rules and its first log.
func BenchmarkNew(b *testing.B) {
	base, err := rules.Open()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		matcher.New(base)
	}
}

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
