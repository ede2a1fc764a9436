package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// maxOutput bounds what is kept of a tool's output. nvidia-smi's XML takes about 30 KB for each GPU.
const maxOutput = 8 << 20

// program runs one of the machine's own tools and returns what it wrote to standard output. The tool is looked for in the PATH of
// the environment that was given, and then where distributions install it. An error tells what happened in one line: not
// installed, no answer in time, or its exit status with the first line that it said.
func (s *system) program(ctx context.Context, name string, args ...string) ([]byte, error) {
	path, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return s.tool(ctx, path, name, args...)
}

// tool is program for one of which it is known where it is.
func (s *system) tool(ctx context.Context, path, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(append([]string{}, s.env...), "LC_ALL=C")
	out, errOut := &head{limit: maxOutput, stop: true}, &head{limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errOut
	cmd.WaitDelay = 200 * time.Millisecond
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s could not be started: %w", name, err)
	}
	// A tool that waits for a broken driver cannot be killed (state D), so Wait may not come back: it is left behind.
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(500 * time.Millisecond):
			return nil, fmt.Errorf("%s %w within %s and cannot be killed", name, errNoAnswer, s.timeout)
		}
	}
	if out.cut {
		return out.kept, fmt.Errorf("%s printed more than %d MiB", name, maxOutput>>20)
	}
	if ctx.Err() != nil && err != nil {
		return nil, fmt.Errorf("%s %w within %s", name, errNoAnswer, s.timeout)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return out.kept, &toolError{name: name, err: err, said: firstLine(errOut.kept, out.kept)}
	}
	return out.kept, nil
}

// errNoAnswer is a tool that ran into the time limit.
var errNoAnswer = errors.New("gave no answer")

// toolError is a tool that ran and failed.
type toolError struct {
	name string
	err  error
	said string
}

func (e *toolError) Error() string {
	if e.said == "" {
		return fmt.Sprintf("%s failed (%v)", e.name, e.err)
	}
	return fmt.Sprintf("%s failed (%v): %s", e.name, e.err, e.said)
}

// find looks name up in the PATH of s.env, and then in the folders of system tools, which a job's PATH often lacks.
func (s *system) find(name string) (string, error) {
	path, _ := s.variable("PATH")
	folders := filepath.SplitList(path)
	if s.root == "/" {
		folders = append(folders, "/usr/local/nvidia/bin", "/usr/bin", "/usr/sbin", "/sbin", "/usr/lib/wsl/lib")
	}
	for _, folder := range folders {
		if candidate := filepath.Join(folder, name); executable(candidate) {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: %w", name, exec.ErrNotFound)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func firstLine(outputs ...[]byte) string {
	for _, out := range outputs {
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSpace(line)
			if line != "" {
				return clip(line, 300)
			}
		}
	}
	return ""
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// head keeps the first limit bytes written to it. The rest it takes without complaint, or, with stop, refuses, which ends the
// program that writes. It has no ReadFrom, as a bytes.Buffer does, because that one would know no limit.
type head struct {
	kept  []byte
	limit int
	stop  bool
	cut   bool
}

// Write keeps what there is room for.
func (h *head) Write(p []byte) (int, error) {
	room := h.limit - len(h.kept)
	if room >= len(p) {
		h.kept = append(h.kept, p...)
		return len(p), nil
	}
	h.cut = true
	h.kept = append(h.kept, p[:max(room, 0)]...)
	if h.stop {
		return 0, bytes.ErrTooLarge
	}
	return len(p), nil
}
