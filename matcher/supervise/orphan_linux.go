package supervise

import "syscall"

// notOrphaned lets a command die with this process: when it is killed with SIGKILL, the command must not run on unwatched, as it would
// not have if run directly.
func notOrphaned() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
