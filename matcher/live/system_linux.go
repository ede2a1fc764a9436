package live

import "syscall"

// fileSystemMiB is the size of the file system at a path and what is free of it, both 0 when the kernel does not tell.
func fileSystemMiB(path string) (size, free float64) {
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) != nil {
		return 0, 0
	}
	block := float64(fs.Bsize)
	return float64(fs.Blocks) * block / (1 << 20), float64(fs.Bavail) * block / (1 << 20)
}
