//go:build unix

package web

import "golang.org/x/sys/unix"

// openFiles is how many files this process may have open, connections among them.
func openFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<20 {
		return 1 << 20
	}
	return int(limit.Cur) //nolint:gosec,unconvert // it is small, and signed on some systems
}
