//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// triage is this test's own program under the name by which TestMain knows that it is to be triage.
func triage(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "triage")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	return exec.Command(link, args...)
}

// Directly and under triage run, a command must look the same from outside.
func TestRunChangesNothing(t *testing.T) {
	scripts := []struct{ name, script string }{
		{"success", "echo out; echo err >&2"},
		{"exit status", "exit 42"},
		{"exit status 255", "exit 255"},
		{"killed", "echo before; kill -KILL $$"},
		{"terminated", "kill -TERM $$"},
		{"interrupted", "kill -INT $$"},
		{"segmentation fault", "kill -SEGV $$"},
		{"aborted", "kill -ABRT $$"},
		{"binary output", `printf 'a\000b\r\n\377\033[31mred'`},
		{"input", "read line; echo got $line; cat"},
		{"one place for both outputs", "exec 2>&1; for i in 1 2 3; do echo out $i; echo err $i >&2; done"},
		{"file descriptors", "ls /proc/self/fd | wc -l"},
		{"environment and folder", "env | grep -v '^_=' | sort; pwd"},
		{"limits", "ulimit -n; ulimit -c"},
		{"ignored signal", "trap '' HUP; sh -c 'grep SigIgn /proc/self/status'"},
	}
	for _, test := range scripts {
		t.Run(test.name, func(t *testing.T) {
			direct := exec.Command("sh", "-c", test.script)
			under := triage(t, "run", "--live", "off", "--", "sh", "-c", test.script)
			want, got := outcome(direct), outcome(under)
			if want != got {
				t.Errorf("directly %s\nunder triage %s", want, got)
			}
		})
	}
}

// Signals that triage is to ignore, as in the background of a script or under nohup, the command ignores too, and no others. Of
// other signals than these two Go does not tell whether they were ignored.
func TestRunKeepsIgnoredSignals(t *testing.T) {
	const ask = "grep SigIgn /proc/self/status"
	under := triage(t, "run", "--live", "off", "--", "sh", "-c", ask)
	for _, ignored := range []string{"", "INT", "HUP", "INT HUP"} {
		prepare := ""
		if ignored != "" {
			prepare = "trap '' " + ignored + "; "
		}
		want := outcome(exec.Command("sh", "-c", prepare+"exec sh -c '"+ask+"'"))
		got := outcome(exec.Command("sh", "-c", prepare+"exec "+under.Path+" run --live off -- sh -c '"+ask+"'"))
		if got != want {
			t.Errorf("ignoring %q: directly %s, under triage %s", ignored, want, got)
		}
	}
}

// outcome is what is seen of a command: its standard output and how it ended.
func outcome(cmd *exec.Cmd) string {
	cmd.Stdin = strings.NewReader("one\ntwo\nthree\n")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status := exit.Sys().(syscall.WaitStatus)
		return fmt.Sprintf("%q, exited %v with %d, signaled %v by %v", out, status.Exited(), status.ExitStatus(), status.Signaled(), status.Signal())
	}
	return fmt.Sprintf("%q, %v", out, err)
}

// What the command writes to standard error comes first and unchanged; the diagnosis follows.
func TestRunDiagnosesAtTheEnd(t *testing.T) {
	cmd := triage(t, "run", "--live", "off", "--", "sh", "-c", `echo 'Traceback (most recent call last):
  File "/job/train.py", line 3, in <module>
    main()
ValueError: no such optimizer' >&2; exit 1`)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Fatal(err)
	}
	text := errs.String()
	if !strings.HasPrefix(text, "Traceback (most recent call last):\n  File \"/job/train.py\", line 3, in <module>\n    main()\nValueError: no such optimizer\n\n") {
		t.Errorf("the command's own words were changed:\n%s", text)
	}
	if !strings.Contains(text, "stderr:4") || !strings.Contains(text, "/job/train.py:3") {
		t.Errorf("no diagnosis:\n%s", text)
	}
}

// A signal sent to triage alone reaches the command, which may handle it as it likes.
func TestRunRelaysSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("whoever started the tests ignores this signal, so that all programs started here do")
			}
			cmd := triage(t, "run", "--live", "off", "--", "sh", "-c", "trap 'echo caught; exit 7' TERM INT USR1 HUP; echo ready; while :; do sleep 0.05; done")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			if !lines.Scan() || lines.Text() != "ready" {
				t.Fatalf("%q", lines.Text())
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if !lines.Scan() || lines.Text() != "caught" {
				t.Errorf("%q", lines.Text())
			}
			_ = cmd.Wait()
			if cmd.ProcessState.ExitCode() != 7 {
				t.Errorf("%v", cmd.ProcessState)
			}
		})
	}
}

// When triage is killed outright the command goes with it.
func TestRunLeavesNothingBehind(t *testing.T) {
	cmd := triage(t, "run", "--live", "off", "--", "sh", "-c", "echo $$; exec sleep 600")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for syscall.Kill(pid, 0) == nil {
		if state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); bytes.Contains(state, []byte(") Z ")) {
			break // dead, and nobody here to bury it
		}
		time.Sleep(10 * time.Millisecond) // until the test's own time limit
	}
}

// On a terminal the command sees a terminal of the same size, what it prints comes out unchanged, and Ctrl-C reaches it once.
func TestRunOnATerminal(t *testing.T) {
	script := `test -t 0 && test -t 1 && test -t 2 && stty size <&1; printf 'a\033[1mb\rc\n'; n=0; trap 'n=$((n+1)); echo caught $n' INT; echo ready; ` +
		`i=0; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; echo total $n; exit 5`
	cmd := triage(t, "run", "--live", "off", "--", "sh", "-c", script)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 33, Cols: 101})
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	var seen strings.Builder
	buffer := make([]byte, 4096)
	interrupted := false
	for {
		n, err := terminal.Read(buffer)
		seen.Write(buffer[:n])
		if !interrupted && strings.Contains(seen.String(), "ready") {
			interrupted = true
			if _, err := io.WriteString(terminal, "\x03"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 5 {
		t.Errorf("exit status %d", code)
	}
	for _, want := range []string{"33 101\r\na\x1b[1mb\rc\r\nready\r\n", "caught 1\r\n", "total 1\r\n"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("%q is missing in %q", want, seen.String())
		}
	}
}

// A reader that goes away ends the command as it would have without triage.
func TestRunWithoutAReader(t *testing.T) {
	cmd := triage(t, "run", "--live", "off", "--", "yes")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	_ = cmd.Wait()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGPIPE {
		t.Errorf("%v", cmd.ProcessState)
	}
}

// A process that outlives the command and keeps its output open does not hold triage up.
func TestRunDoesNotWaitForDaemons(t *testing.T) {
	cmd := triage(t, "run", "--live", "off", "--", "sh", "-c", "sleep 600 & echo started $!")
	out, err := cmd.Output()
	var pid int
	if _, scanned := fmt.Sscanf(string(out), "started %d", &pid); scanned != nil || err != nil {
		t.Fatalf("%q %v", out, err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// A launcher that is killed leaves processes behind that write on. Triage ends with the launcher, and says which they are.
func TestRunNamesOrphans(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // for a triage that waits for them for ever
	defer cancel()
	const rank = "while :; do echo rank at work; sleep 0.02; done"
	cmd := triage(t, "run", "--live", "off", "--", "sh", "-c", "RANK=3 setsid sh -c '"+rank+"' & echo orphan $!; sleep 0.4; kill -KILL $$")
	context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	_, after, _ := strings.Cut(out.String(), "orphan ") // the process itself may have written before
	var pid int
	if _, err := fmt.Sscanf(after, "%d", &pid); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGKILL || ctx.Err() != nil {
		t.Errorf("%v", cmd.ProcessState)
	}
	said := strings.Join(strings.Fields(errs.String()), " ")
	for _, want := range []string{"ends it: rank 3, sh -c while", fmt.Sprintf("kill %d", pid)} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in %s", want, errs.String())
		}
	}
}

// A job that hangs is told of while it hangs: which rank is behind, the last line of each, and where their processes are. Ctrl-C then gives
// that answer too.
func TestRunSpeaksOfAHang(t *testing.T) {
	const script = `RANK=0 sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "[rank0]: step $i loss 2.5"; sleep 0.02; done; exec sleep 600' &
RANK=1 sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo "[rank1]: step $i loss 2.5"; sleep 0.02; done; exec sleep 600' &
trap 'kill 0; exit 130' INT; wait; wait`
	cmd := triage(t, "run", "--live", "off", "--stall", "1s", "--", "sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal
	cmd.Stdout = io.Discard
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
	var said [2]strings.Builder // before Ctrl-C, and after
	part := 0
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		said[part].WriteString(lines.Text() + "\n")
		if part == 0 && strings.Contains(said[0].String(), "  see\n") { // that is the end of an answer
			part = 1
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
	}
	_ = cmd.Wait()
	for i, words := range [][]string{
		{"nothing new for", "since", "likely[rank-stopped]", "step 10 loss 2.5", "step 12 loss 2.5", "sleep 600", "by /proc [rank 1]"},
		{"likely[rank-stopped]", "step 10 loss 2.5", "by /proc [rank 1]"},
	} {
		for _, want := range words {
			if !strings.Contains(said[i].String(), want) {
				t.Errorf("answer %d lacks %q:\n%s", i, want, said[i].String())
			}
		}
	}
}
