//go:build unix

package supervise

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// supervised runs a shell script with its outputs in files and returns what they hold.
func supervised(t *testing.T, script string, read func(name string, output io.Reader) error) (ended Ended, out, errs string) {
	t.Helper()
	var files [2]*os.File
	for i := range files {
		f, err := os.Create(filepath.Join(t.TempDir(), "output"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	ended, err := Run(Job{Args: []string{"sh", "-c", script}, Stdout: files[0], Stderr: files[1], Read: read})
	if err != nil {
		t.Fatal(err)
	}
	var texts [2]string
	for i, f := range files {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return ended, texts[0], texts[1]
}

// Standard error is read first, whatever the order in which the command wrote.
func TestReadsEachOutput(t *testing.T) {
	var seen []string
	ended, out, errs := supervised(t, "echo out; echo err >&2; exit 3", func(name string, output io.Reader) error {
		text, err := io.ReadAll(output)
		seen = append(seen, name+" "+string(text))
		return err
	})
	if failed := ended.ReadRest(); len(failed) > 0 || ended.Code != 3 || out != "out\n" || errs != "err\n" {
		t.Errorf("exit status %d, %q, %q, %q", ended.Code, out, errs, failed)
	}
	if got := strings.Join(seen, ""); got != "stderr err\nstdout out\n" {
		t.Errorf("read %q", got)
	}
}

// A reader that fails or panics costs the command nothing, however much it writes.
func TestReaderFails(t *testing.T) {
	const script = "head -c 40000000 /dev/zero; head -c 40000000 /dev/zero >&2"
	ended, out, errs := supervised(t, script, func(name string, _ io.Reader) error {
		if name == "stderr" {
			panic("a mistake")
		}
		return errors.New("no more")
	})
	if ended.Code != 0 || len(out) != 40_000_000 || len(errs) != 40_000_000 {
		t.Errorf("exit status %d, %d and %d bytes", ended.Code, len(out), len(errs))
	}
	failed := strings.Join(ended.ReadRest(), "\n")
	for _, want := range []string{"stderr could not be read to its end: a mistake", "stdout could not be read to its end: no more"} {
		if !strings.Contains(failed, want) {
			t.Errorf("%q is missing in %q", want, failed)
		}
	}
}

func TestNoSuchCommand(t *testing.T) {
	ended, err := Run(Job{Args: []string{"no-such-command"}, Stdout: os.Stdout, Stderr: os.Stderr})
	if err == nil || ended.Code != 127 {
		t.Errorf("exit status %d, %v", ended.Code, err)
	}
	if failed := ended.ReadRest(); failed != nil {
		t.Errorf("%q", failed)
	}
}
