package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Job is a command to run as if it had been run directly: it keeps the standard input, the process group and the terminal, and what
// it writes goes through unchanged.
type Job struct {
	Args           []string // the program, looked up in PATH, and its arguments
	Stdout, Stderr *os.File
	// Watch gives the place where a copy of an output goes: "stdout", "stderr", or "output" when both are one. When it is slow the
	// command waits; an error of its own ends the watching but not the command. It is closed when the job has ended.
	Watch func(name string) io.WriteCloser
}

// Ended tells how a job ended.
type Ended struct {
	Code              int            // the exit status; 128 plus the signal when one killed it
	Signal            syscall.Signal // that killed it, or 0
	Interrupted       bool           // a signal asked triage itself to end
	Started, Finished time.Time
}

// The exit statuses with which shells say that there was no command to run.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
)

// quiet is how long the output may be held open, with nothing written to it, by processes that outlive the command.
const quiet = 2 * time.Second

// Run runs the job and waits for it. The error says why it could not be started; Ended.Code then is what a shell would give.
func Run(job Job) (Ended, error) {
	path, err := exec.LookPath(job.Args[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		if errors.Is(err, os.ErrPermission) {
			return Ended{Code: codeNotExecutable}, fmt.Errorf("%s: not executable", job.Args[0])
		}
		return Ended{Code: codeNotFound}, fmt.Errorf("%s: no such command", job.Args[0])
	}
	cmd := &exec.Cmd{Path: path, Args: job.Args, Stdin: os.Stdin}
	cmd.SysProcAttr = notOrphaned()
	streams, err := connect(cmd, job)
	if err != nil {
		return Ended{Code: codeNotExecutable}, err
	}
	relayed := newRelay(streams)
	defer relayed.stop()
	ended := Ended{Started: time.Now()}
	err = startAndWait(cmd, relayed, streams)
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
func startAndWait(cmd *exec.Cmd, relayed *relay, streams []*stream) error {
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
			go s.copy()
		}
		relayed.to(cmd.Process)
		done <- cmd.Wait()
	}()
	err := <-done
	if cmd.Process != nil {
		for _, s := range streams {
			s.drain()
		}
	}
	for _, s := range streams {
		s.watch.Close()
	}
	return err
}

// Mimic ends this process by the signal that ended the job, so that whoever waits for it sees what it would have seen. It returns
// when that is not possible, or when no signal ended the job. A program that Go made cannot let every signal kill it, a shell can.
func (e Ended) Mimic() {
	if e.Signal == 0 {
		return
	}
	number := strconv.Itoa(int(e.Signal))
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "ulimit -c 0; kill -" + number + " $$"}, os.Environ())
}

// SignalName is the name of the signal that ended the job, as SIGKILL.
func (e Ended) SignalName() string {
	if name := unix.SignalName(e.Signal); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(e.Signal))
}

// stream is one output of the command on its way through triage.
type stream struct {
	child *os.File // the end that the command writes to
	ours  *os.File
	to    *os.File
	watch io.WriteCloser
	isPTY bool
	done  chan struct{}
	wrote chan struct{} // tells drain that something came
}

// connect gives the command outputs of the kind that triage has itself: terminals for terminals, pipes for all else, and one for
// both where both are the same.
func connect(cmd *exec.Cmd, job Job) ([]*stream, error) {
	if sameOutput(job.Stdout, job.Stderr) {
		both, err := newStream(job.Stdout)
		if err != nil {
			return nil, err
		}
		cmd.Stdout, cmd.Stderr, both.watch = both.child, both.child, job.Watch("output")
		return []*stream{both}, nil
	}
	out, err := newStream(job.Stdout)
	if err != nil {
		return nil, err
	}
	errs, err := newStream(job.Stderr)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, out.watch = out.child, job.Watch("stdout")
	cmd.Stderr, errs.watch = errs.child, job.Watch("stderr")
	return []*stream{out, errs}, nil
}

func sameOutput(a, b *os.File) bool {
	first, err1 := a.Stat()
	second, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

func newStream(to *os.File) (*stream, error) {
	s := &stream{to: to, done: make(chan struct{}), wrote: make(chan struct{}, 1)}
	var err error
	if s.isPTY = term.IsTerminal(int(to.Fd())); !s.isPTY {
		s.ours, s.child, err = os.Pipe()
		return s, err
	}
	if s.ours, s.child, err = pty.Open(); err != nil {
		return nil, fmt.Errorf("no terminal for the command: %w", err)
	}
	// Raw: the real terminal will turn \n into \r\n.
	if _, err = term.MakeRaw(int(s.child.Fd())); err != nil {
		return nil, fmt.Errorf("no terminal for the command: %w", err)
	}
	s.resize()
	return s, nil
}

// resize gives the command's terminal the size of the real one.
func (s *stream) resize() {
	if s.isPTY {
		_ = pty.InheritSize(s.to, s.ours) // a terminal without a size
	}
}

// copy passes on what the command writes. When nobody reads it any more, the command is to notice in the same way as without
// triage: by a signal or an error when it writes on.
func (s *stream) copy() {
	defer close(s.done)
	defer s.ours.Close()
	buffer := make([]byte, 32<<10)
	watching := true
	for {
		n, err := s.ours.Read(buffer)
		if n > 0 {
			if _, werr := s.to.Write(buffer[:n]); werr != nil {
				return
			}
			if watching {
				_, werr := s.watch.Write(buffer[:n])
				watching = werr == nil
			}
			select {
			case s.wrote <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// drain waits for the rest of the output after the command has ended. A process that it left behind may keep the output open for
// ever; it is waited for only as long as it writes.
func (s *stream) drain() {
	for {
		select {
		case <-s.done:
			return
		case <-s.wrote:
		case <-time.After(quiet):
			return
		}
	}
}

// relay passes the signals that triage gets on to the command.
type relay struct {
	signals chan os.Signal
	streams []*stream
	mutex   sync.Mutex
	process *os.Process
	asked   bool
}

// newRelay begins to catch signals. Those that are ignored, as with nohup, stay so.
func newRelay(streams []*stream) *relay {
	r := &relay{signals: make(chan os.Signal, 16), streams: streams}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGPIPE} {
		if !signal.Ignored(s) {
			signal.Notify(r.signals, s)
		}
	}
	return r
}

func (r *relay) stop() {
	signal.Stop(r.signals) // nothing is sent after it
	close(r.signals)
}

// to names the receiver.
func (r *relay) to(process *os.Process) {
	r.mutex.Lock()
	r.process = process
	r.mutex.Unlock()
	go func() {
		for s := range r.signals {
			r.pass(s)
		}
	}()
}

func (r *relay) pass(s os.Signal) {
	switch s {
	case syscall.SIGPIPE:
		return // of triage's own writing, see stream.copy
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
	_ = r.process.Signal(s)
}

func (r *relay) ask() {
	r.mutex.Lock()
	r.asked = true
	r.mutex.Unlock()
}

func (r *relay) interrupted() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.asked
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
