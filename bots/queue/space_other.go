//go:build !(linux || darwin || freebsd)

package queue

import "errors"

// diskRoom is not known here: a write that fails tells that the disk is full.
func diskRoom(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
