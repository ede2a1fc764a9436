//go:build race

package endtoend

const watched = true // by the race detector
