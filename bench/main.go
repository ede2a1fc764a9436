// Bench writes the logs that the benchmarks read, and runs the scan alone over one:
//
//	go run ./bench -size 300 -kind ordinary > train.log
//	go run ./bench -literals bench/literals.txt train.log
//
// The second prints how many lines have a literal, as rg -a -c -F -f does.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/scan/corpus"
)

func main() {
	size := flag.Int64("size", 300, "size of the log in MB")
	kind := flag.String("kind", string(corpus.Ordinary), "ordinary, or adversarial: a log in which every line nearly matches")
	seed := flag.Uint64("seed", 1, "another seed gives another log")
	literals := flag.String("literals", "", "a file with a literal in each line, to be counted in the log named by the argument")
	workers := flag.Int("workers", 1, "goroutines that scan")
	flag.Parse()
	var err error
	if *literals != "" {
		err = count(*literals, flag.Arg(0), *workers)
	} else {
		err = corpus.Write(os.Stdout, *size*1_000_000, corpus.Kind(*kind), *seed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

func count(literals, log string, workers int) error {
	list, err := os.ReadFile(literals)
	if err != nil {
		return err
	}
	var all []scan.Literal
	for text := range strings.Lines(string(list)) {
		all = append(all, scan.Literal{Text: strings.TrimSuffix(text, "\n")})
	}
	set, err := scan.New(all)
	if err != nil {
		return err
	}
	src := os.Stdin
	if log != "" {
		if src, err = os.Open(log); err != nil {
			return err
		}
		defer src.Close()
	}
	lines := 0
	err = set.Read(context.Background(), src, scan.Reading{Workers: workers}, func(c *scan.Chunk) error {
		lines += len(c.Hits)
		return nil
	})
	fmt.Println(lines)
	return err
}
