//go:build !unix

package supervise

import (
	"errors"
	"os"
)

// isTerminal says no: where no terminal can be made for the command, it gets pipes.
func isTerminal(*os.File) bool { return false }

func (s *stream) openTerminal() error { return errors.ErrUnsupported }
