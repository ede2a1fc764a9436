package reading_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
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

// BenchmarkReadWords measures the reading of long lines with the words of many failures, none like another.
func BenchmarkReadWords(b *testing.B) {
	base, err := rules.Open()
	if err != nil {
		b.Fatal(err)
	}
	var words []string
	for _, e := range base.Entries {
		words = append(words, e.Keywords...)
	}
	engine := matcher.New(base)
	for _, failures := range []int{6, 40, 150} { // in a line
		rnd := rand.New(rand.NewPCG(1, 1))
		var log bytes.Buffer
		for log.Len() < 32_000_000 {
			for range failures {
				fmt.Fprintf(&log, "%x %s ", rnd.Perm(30), strings.ReplaceAll(words[rnd.IntN(len(words))], "\n", " "))
			}
			log.WriteByte('\n')
		}
		b.Run(fmt.Sprint(failures), func(b *testing.B) {
			b.SetBytes(int64(log.Len()))
			for b.Loop() {
				if err := engine.Begin().Read(context.Background(), "train.log", bytes.NewReader(log.Bytes())); err != nil {
					b.Fatal(err)
				}
			}
		})
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
