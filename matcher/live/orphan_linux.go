package live

import "syscall"

// notOrphaned lets a command die with triage: when triage is killed with SIGKILL, the command must not run on unwatched, as it would
// not have without triage.
func notOrphaned() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
