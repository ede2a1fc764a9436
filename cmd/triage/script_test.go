package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"triage": main})
}

// TestScript runs the command lines of testdata/script, each with the exit status that it must have, with the program as users have
// it: the race detector, which watches the other tests, would make hundreds of starts slow.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("the program that it runs is the same with and without -short and -race")
	}
	repository, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(repository, "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPO", repository)
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			return shareGo(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "pack": pack},
	})
}

// shareGo lets a script's go find what has been built and downloaded already.
func shareGo(env *testscript.Env) error {
	names := []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "CGO_ENABLED", "GOPROXY"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	for i, value := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		env.Setenv(names[i], value)
	}
	return nil
}

// status runs "status N COMMAND ARG..." and fails unless the command ends with that exit status.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [arg...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		got = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, not %s", got, args[0])
	}
}

// pack runs "pack FILE PACKED", where PACKED ends in .gz or .zst.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pack file packed")
	}
	content := ts.ReadFile(args[0])
	out, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	defer out.Close()
	switch filepath.Ext(args[1]) {
	case ".gz":
		w := gzip.NewWriter(out)
		_, err = w.Write([]byte(content))
		ts.Check(err)
		ts.Check(w.Close())
	case ".zst":
		w, err := zstd.NewWriter(out)
		ts.Check(err)
		_, err = w.Write([]byte(content))
		ts.Check(err)
		ts.Check(w.Close())
	default:
		ts.Fatalf("%s: neither .gz nor .zst", args[1])
	}
}
