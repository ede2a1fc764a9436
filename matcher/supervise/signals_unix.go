//go:build unix

package supervise

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// caught are the signals that are caught for the command.
var caught = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGPIPE}

// pass gives the command a signal, unless it has it already.
func (r *relay) pass(s os.Signal, process *os.Process) {
	switch s {
	case syscall.SIGPIPE:
		return // of this process's own writing, see stream.pass
	case syscall.SIGWINCH:
		for _, stream := range r.streams {
			stream.resize()
		}
	case syscall.SIGINT, syscall.SIGQUIT:
		r.ask()
		if foreground() {
			return // the terminal gave it to the command too
		}
	case syscall.SIGTERM, syscall.SIGHUP:
		r.ask()
	}
	// It fails when the command has just ended.
	_ = process.Signal(s)
}

// foreground tells whether this process group is the one that the terminal sends Ctrl-C to.
func foreground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

// SignalName is the name of the signal that ended the job, as SIGKILL.
func (e Ended) SignalName() string {
	if name := unix.SignalName(e.Signal); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(e.Signal))
}

// RaiseSignal ends this process by the signal that ended the job, so that whoever waits for it sees what it would have seen. It returns
// when that is not possible, or when no signal ended the job. A program that Go made cannot let every signal kill it, a shell can.
func (e Ended) RaiseSignal() {
	if e.Signal == 0 {
		return
	}
	number := strconv.Itoa(int(e.Signal))
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -" + number + " $$"}, os.Environ())
}
