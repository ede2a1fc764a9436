// Package smalldisk gives tests a small disk of their own, which they may fill.
package smalldisk

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// New mounts a file system of so many MiB and returns its folder. It needs no root, but a Linux that lets people have name spaces: elsewhere
// the test is skipped.
func New(t testing.TB, mib int) string {
	t.Helper()
	at := t.TempDir()
	holder := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		fmt.Sprintf("mount -t tmpfs -o size=%dm none '%s' && echo mounted && read wait", mib, at))
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Skipf("no small disk here: %v", err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = holder.Wait() })
	if said, _ := bufio.NewReader(stdout).ReadString('\n'); said != "mounted\n" {
		t.Skip("no small disk here: this machine lets nobody mount one")
	}
	inside := filepath.Join("/proc", fmt.Sprint(holder.Process.Pid), "root", at)
	if _, err := os.ReadDir(inside); err != nil {
		t.Skipf("no small disk here: %v", err)
	}
	return inside
}

// Fill fills the disk of a folder to the last byte, and returns how to free it again.
func Fill(t testing.TB, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "filler")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zeros := make([]byte, 64<<10)
	for len(zeros) > 0 {
		if _, err := file.Write(zeros); err != nil {
			zeros = zeros[:len(zeros)/2]
		}
	}
	return func() { _ = os.Remove(name) }
}
