package main

import (
	"bytes"
	"context"
	_ "embed" // for the program that each Python runs, and for the list of releases
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/gpu-triage/triage/rules/history"
	"github.com/gpu-triage/triage/rules/history/table"
)

//go:embed interpreter.py
var interpreterProgram string

//go:embed pythons.txt
var pythonsText string

// pythons makes the table of Python itself. Its releases are no archives of an index: each is an interpreter on the path, as python3.8, that
// tells what its standard library has.
func pythons(ctx context.Context, d history.Listing) ([]byte, error) {
	b := newBuilder(d)
	for line := range strings.Lines(pythonsText) {
		version, day, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		date, err := time.Parse(time.DateOnly, strings.TrimSpace(day))
		if err != nil {
			return nil, fmt.Errorf("pythons.txt: %w", err)
		}
		modules, err := standardLibrary(ctx, version, d)
		if err != nil {
			return nil, err
		}
		b.addModules(table.Release{Version: version, Date: date}, modules)
	}
	return b.encode()
}

// standardLibrary asks one Python for the modules that the listing names, and all below them.
func standardLibrary(ctx context.Context, version string, d history.Listing) (map[string]map[table.Record]bool, error) {
	program := "python" + version
	if _, err := exec.LookPath(program); err != nil {
		return nil, fmt.Errorf("%s is not on the path; pyenv or uv can install all that pythons.txt names: %w", program, err)
	}
	command := exec.CommandContext(ctx, program, "-")
	command.Stdin = strings.NewReader(interpreterProgram)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%.2000s", program, err, complaint.Bytes())
	}
	var said struct {
		Version string                 `json:"version"`
		Modules map[string][][3]string `json:"modules"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	if said.Version != version {
		return nil, fmt.Errorf("%s is Python %s", program, said.Version)
	}
	modules := make(map[string]map[table.Record]bool)
	for name, records := range said.Modules {
		if root, _, _ := strings.Cut(name, "."); !inRoots(root, d.Roots) {
			return nil, fmt.Errorf("%s has the module %s, which packages.txt does not name in the line of python", program, root)
		}
		modules[name] = make(map[table.Record]bool)
		for _, r := range records {
			modules[name][table.Record{Kind: table.Kind(r[0][0]), Name: r[1], Arg: r[2]}] = true
		}
	}
	return modules, nil
}
