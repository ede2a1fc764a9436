// Command playground writes a static page that diagnoses logs in the browser, with the engine in WebAssembly: a log never leaves the page.
//
//	go run ./cmd/playground FOLDER
//
// The folder can be served by anything that serves files; opened as a file, a browser does not load the engine.
package main

import (
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gpu-triage/triage/bots/web"
	"github.com/gpu-triage/triage/rules"
)

//go:embed engine.js
var script string

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("Usage: go run ./cmd/playground FOLDER")
	}
	if err := write(os.Args[1]); err != nil {
		log.Fatal("playground: ", err)
	}
}

// write writes the page and what it loads into a folder.
func write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	base, err := rules.Open()
	if err != nil {
		return err
	}
	page, err := web.AskPage(base, false, script)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "index.html"), page, 0o644),
		os.WriteFile(filepath.Join(folder, "wasm_exec.js"), support, 0o644),
		writeEngine(filepath.Join(folder, "triage.wasm.gz")),
	)
}

// writeEngine builds the engine and compresses it.
func writeEngine(name string) error {
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "triage.wasm")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "github.com/gpu-triage/triage/cmd/playground/engine")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the engine: %w", err)
	}
	from, err := os.Open(program)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(name)
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	raw, err := io.Copy(packed, from)
	err = errors.Join(err, packed.Close())
	if size, sizeErr := to.Seek(0, io.SeekCurrent); sizeErr == nil {
		log.Printf("the engine has %d MB, compressed %d MB", raw/1e6, size/1e6)
	}
	return errors.Join(err, to.Close())
}
