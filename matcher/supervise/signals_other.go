//go:build !unix

package supervise

import (
	"os"
	"syscall"
)

// caught are the signals that would end this process before the command.
var caught = []os.Signal{os.Interrupt, syscall.SIGTERM}

// pass only notes the signal: the console gave it to the command too.
func (r *relay) pass(os.Signal, *os.Process) { r.ask() }

// SignalName is never asked for where no signal ends a job.
func (e Ended) SignalName() string { return e.Signal.String() }

// RaiseSignal returns: no signal ended the job.
func (e Ended) RaiseSignal() {}
