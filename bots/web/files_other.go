//go:build !unix

package web

// openFiles is how many files this process may have open, connections among them.
func openFiles() int { return 1 << 20 }
