package main

import (
	"bufio"
	"context"
	_ "embed" // for the program that Python runs
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"sync"

	"github.com/gpu-triage/triage/rules/history/table"
)

//go:embed declarations.py
var program string

// parser is a running Python that says what source files declare. It takes one at a time, whoever asks.
type parser struct {
	mutex  sync.Mutex
	in     io.WriteCloser
	out    *bufio.Reader
	python *exec.Cmd
}

// programVersion tells apart what different versions of the program said.
func programVersion() string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(program))) }

func startParser(ctx context.Context, python string) (*parser, error) {
	p := &parser{python: exec.CommandContext(ctx, python, "-X", "utf8", "-c", program)}
	p.python.Stderr = os.Stderr
	in, err := p.python.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.python.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<20)
	return p, p.python.Start()
}

func (p *parser) close() error { return errors.Join(p.in.Close(), p.python.Wait()) }

// answer is what the program says of one file.
type answer struct {
	Records [][3]string `json:"records"`
	Error   string      `json:"error"`
}

// declarations are the records of one source file, a single Open record when Python cannot read it.
func (p *parser) declarations(place place, source []byte) ([]table.Record, error) {
	said, err := p.ask(place, outline(source))
	if err == nil && said.Error != "" {
		said, err = p.ask(place, source)
	}
	if err != nil {
		return nil, err
	}
	if said.Error != "" {
		return []table.Record{{Kind: table.Open, Arg: "not read: " + said.Error}}, nil
	}
	var records []table.Record
	for _, r := range said.Records {
		records = append(records, table.Record{Kind: table.Kind(r[0][0]), Name: r[1], Arg: r[2]})
	}
	return records, nil
}

// ask hands one source to Python and waits for what it says.
func (p *parser) ask(place place, source []byte) (said answer, err error) {
	header, err := json.Marshal(map[string]any{"module": place.module, "package": place.isPackage, "stub": place.stub, "size": len(source)})
	if err != nil {
		return said, err
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if _, err := p.in.Write(append(append(header, '\n'), source...)); err != nil {
		return said, fmt.Errorf("python: %w", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return said, fmt.Errorf("python stopped at %s: %w", place.module, err)
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return said, fmt.Errorf("python said of %s: %w", place.module, err)
	}
	return said, nil
}
