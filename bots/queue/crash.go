package queue

import "os"

// CrashPoint ends the process as kill -9 does when the environment variable TRIAGE_CRASH_AT names this point. It exists for the
// tests that show that a kill at any of these points neither loses nor doubles an answer; nothing else sets the variable.
func CrashPoint(name string) {
	if os.Getenv("TRIAGE_CRASH_AT") != name {
		return
	}
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {} // until the signal arrives
}
