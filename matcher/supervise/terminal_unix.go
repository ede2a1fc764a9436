//go:build unix

package supervise

import (
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/term"
)

func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// openTerminal makes a terminal for the command, of the size that the real one has.
func (s *stream) openTerminal() error {
	var err error
	s.isPTY = true
	if s.ours, s.child, err = pty.Open(); err != nil {
		return fmt.Errorf("no terminal for the command: %w", err)
	}
	// Raw: the real terminal will turn \n into \r\n.
	if _, err = term.MakeRaw(int(s.child.Fd())); err != nil {
		return fmt.Errorf("no terminal for the command: %w", err)
	}
	s.resize()
	return nil
}

// resize gives the command's terminal the size of the real one.
func (s *stream) resize() {
	if s.isPTY {
		_ = pty.InheritSize(s.to, s.ours) // a terminal without a size
	}
}
