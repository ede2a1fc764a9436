// Package supervise runs somebody's command so that nobody can tell the difference, and reads along.
//
// The command keeps its standard input, process group and terminal. Each of its outputs goes through a stream, which passes every
// byte on at once and puts a copy into a backlog; the job's reader takes the copies from there at its own pace. A reader that is slow
// may hold the command up for some seconds in all, then the middle of the output is left out: its beginning and its end are always
// read. Signals sent to this process go on to the command. When the command has ended, Run returns how, ReadRest lets the reader
// finish, and RaiseSignal ends this process in the same way.
//
// It is written by hand because it hangs on details that no library keeps together: the command must see a terminal only where
// there is one, notice a reader that goes away, die with this process, and leave its exit status and its signal behind unchanged.
//
// On Windows there is less to keep: the command writes to pipes, and the console gives it Ctrl-C by itself.
package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Job is a command to run as if it had been run directly.
type Job struct {
	Args           []string // the program, looked up in PATH, and its arguments
	Stdout, Stderr *os.File // where its outputs go, unchanged; they may be one file
	// Started is called with the number of the command's process as soon as it runs; it may be nil.
	Started func(pid int)
	// Copy gives what gets a copy of an output as it comes, under the names that Read gets; it must not wait, and may be nil.
	Copy func(name string) io.Writer
	// Read reads a copy of an output to its end. Standard error, or both outputs where they are one file, it gets while the command
	// runs, as "stderr" or "output"; standard output, as "stdout", in ReadRest, because the order of two outputs is not to be known.
	// It is never called twice at once. Its error, or its panic, ends the reading but not the command.
	Read func(name string, output io.Reader) error
}

// Ended tells how a job ended.
type Ended struct {
	Code              int            // the exit status; 128 plus the signal when one killed it
	Signal            syscall.Signal // that killed it, or 0
	Interrupted       bool           // a signal asked this process itself to end
	Started, Finished time.Time

	readers *readers
}

// The exit statuses with which shells say that there was no command to run.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
)

// Run runs the job and waits for it, and up to two seconds more for processes that outlive it and write to its outputs. The
// error says why it could not be started; Ended.Code then is what a shell would give.
func Run(job Job) (Ended, error) {
	path, err := exec.LookPath(job.Args[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		if errors.Is(err, os.ErrPermission) {
			return Ended{Code: codeNotExecutable}, fmt.Errorf("%s: not executable", job.Args[0])
		}
		return Ended{Code: codeNotFound}, fmt.Errorf("%s: no such command", job.Args[0])
	}
	cmd := &exec.Cmd{Path: path, Args: job.Args, Stdin: os.Stdin, SysProcAttr: notOrphaned()}
	ended := Ended{readers: &readers{read: job.Read}}
	streams, err := connect(cmd, job, ended.readers)
	if err != nil {
		return Ended{Code: codeNotExecutable}, err
	}
	relayed := newRelay(streams)
	defer relayed.stop()
	ended.Started = time.Now()
	err = startAndWait(cmd, job.Started, relayed, streams)
	ended.Finished = time.Now()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Ended{Code: codeNotExecutable}, fmt.Errorf("%s: %w", job.Args[0], errors.Unwrap(err))
	}
	ended.Interrupted = relayed.interrupted()
	ended.Code = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		ended.Signal, ended.Code = status.Signal(), 128+int(status.Signal())
	}
	return ended, nil
}

// startAndWait keeps to one thread, because the kernel takes the end of the thread that started a process for the end of its parent.
func startAndWait(cmd *exec.Cmd, started func(int), relayed *relay, streams []*stream) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			for _, s := range streams {
				s.child.Close()
				s.ours.Close()
			}
			done <- err
			return
		}
		for _, s := range streams {
			s.child.Close()
			go s.pass()
		}
		relayed.to(cmd.Process)
		if started != nil {
			started(cmd.Process.Pid)
		}
		done <- cmd.Wait()
	}()
	err := <-done
	if cmd.Process != nil {
		var rest sync.WaitGroup
		for _, s := range streams {
			rest.Go(s.drain)
		}
		rest.Wait()
	}
	for _, s := range streams {
		s.copies.Close()
	}
	return err
}

// ReadRest lets Job.Read read what it has not read yet, and returns what it could not read, each as a sentence.
func (e Ended) ReadRest() []string {
	if e.readers == nil { // nothing was run
		return nil
	}
	return e.readers.finish()
}
