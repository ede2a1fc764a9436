//go:build !race

package endtoend

const watched = false // by the race detector
