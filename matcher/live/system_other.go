//go:build !linux

package live

// fileSystemMiB says nothing: only Linux has a /dev/shm.
func fileSystemMiB(string) (size, free float64) { return 0, 0 }

// sameGroup says no: jobs on GPUs run on Linux.
func sameGroup(int) bool { return false }
