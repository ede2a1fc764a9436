package main

import (
	"context"
	"os"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

func BenchmarkZZ(b *testing.B) {
	base, err := rules.Open()
	if err != nil {
		b.Fatal(err)
	}
	engine := matcher.New(base)
	for b.Loop() {
		f, _ := os.Open(os.Getenv("ZZ"))
		j := engine.Begin()
		if err := j.Read(context.Background(), "x", f); err != nil {
			b.Fatal(err)
		}
		_ = j.Report()
	}
}
