package rules

import (
	"io/fs"
	"testing"
)

// BenchmarkLoad measures reading the shipped rules: all of them, and as much as every start of the program needs.
func BenchmarkLoad(b *testing.B) {
	for name, load := range map[string]func(...fs.FS) (*Base, error){"all": Load, "start": Open} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := load(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
