//go:build !linux

package supervise

import "syscall"

// notOrphaned does nothing where the kernel cannot be asked to end a command with the one that started it.
func notOrphaned() *syscall.SysProcAttr { return nil }
