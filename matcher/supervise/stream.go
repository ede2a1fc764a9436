package supervise

import (
	"io"
	"os"
	"os/exec"
	"time"
)

// stream is one output of the command on its way through this process.
type stream struct {
	child  *os.File // the end that the command writes to
	ours   *os.File
	to     *os.File
	copies *backlog
	also   io.Writer
	isPTY  bool
	done   chan struct{}
	wrote  chan struct{} // tells drain that something came
}

// How long the output may be held open by processes that outlive the command: as long as they write, but not for ever.
const (
	silence = 500 * time.Millisecond // with nothing written to it
	patient = 2 * time.Second        // in all
)

// connect gives the command outputs of the kind that this process has itself: terminals for terminals, pipes for all else, and one
// for both where both are the same.
func connect(cmd *exec.Cmd, job Job, readers *readers) ([]*stream, error) {
	if sameOutput(job.Stdout, job.Stderr) {
		both, err := newStream(job.Stdout)
		if err != nil {
			return nil, err
		}
		both.copies, both.also = readers.now("output"), job.copy("output")
		cmd.Stdout, cmd.Stderr = both.child, both.child
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
	out.copies, errs.copies = readers.afterwards("stdout"), readers.now("stderr")
	out.also, errs.also = job.copy("stdout"), job.copy("stderr")
	cmd.Stdout, cmd.Stderr = out.child, errs.child
	return []*stream{out, errs}, nil
}

// copy is what gets a copy of an output.
func (j Job) copy(name string) io.Writer {
	if j.Copy == nil {
		return io.Discard
	}
	return j.Copy(name)
}

func sameOutput(a, b *os.File) bool {
	first, err1 := a.Stat()
	second, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

func newStream(to *os.File) (*stream, error) {
	s := &stream{to: to, done: make(chan struct{}), wrote: make(chan struct{}, 1)}
	if isTerminal(to) {
		return s, s.openTerminal()
	}
	var err error
	s.ours, s.child, err = os.Pipe()
	return s, err
}

// pass passes on what the command writes. When nobody reads it any more, the command is to notice in the same way as if it were run
// directly: by a signal or an error when it writes on.
func (s *stream) pass() {
	defer close(s.done)
	defer s.ours.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := s.ours.Read(buffer)
		if n > 0 {
			if _, err := s.to.Write(buffer[:n]); err != nil {
				return
			}
			_, _ = s.copies.Write(buffer[:n]) // it never fails
			_, _ = s.also.Write(buffer[:n])   // nobody cares
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
// ever, and may write on for ever.
func (s *stream) drain() {
	enough := time.After(patient)
	for {
		select {
		case <-s.done:
			return
		case <-s.wrote:
		case <-time.After(silence):
			return
		case <-enough:
			return
		}
	}
}
