//go:build linux || darwin || freebsd

package queue

import "golang.org/x/sys/unix"

// diskRoom is what is free on the disk of a folder, for us, and how large the disk is, in bytes.
func diskRoom(dir string) (free, total int64, err error) {
	var at unix.Statfs_t
	if err := unix.Statfs(dir, &at); err != nil {
		return 0, 0, err
	}
	block := int64(at.Bsize) //nolint:unconvert // its type differs between systems
	return int64(at.Bavail) * block, int64(at.Blocks) * block, nil
}
