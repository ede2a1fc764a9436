// Bench makes what cmd/bench/run measures with:
//
//	go run ./cmd/bench log -size 300 -kind ordinary   writes a log
//	go run ./cmd/bench literals                       writes the literals that the shipped knowledge looks for, one in each line
//	go run ./cmd/bench count LITERALS LOG             counts the lines of LOG that have one, as rg -a -c -F -f does, by the scan alone
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/scan/corpus"
	"github.com/gpu-triage/triage/rules"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	switch {
	case len(args) > 0 && args[0] == "log":
		return writeLog(args[1:])
	case len(args) == 1 && args[0] == "literals":
		return writeLiterals()
	case len(args) == 3 && args[0] == "count":
		return count(args[1], args[2])
	}
	return errors.New("the commands are log, literals, and count LITERALS LOG")
}

func writeLog(args []string) error {
	flags := flag.NewFlagSet("log", flag.ExitOnError)
	size := flags.Int64("size", 300, "size of the log in MB")
	kind := flags.String("kind", string(corpus.Ordinary), "ordinary, or adversarial: a log in which every line nearly matches")
	seed := flags.Uint64("seed", 1, "another seed gives another log")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return corpus.Write(os.Stdout, *size*1_000_000, corpus.Kind(*kind), *seed)
}

func writeLiterals() error {
	base, err := rules.Load()
	if err != nil {
		return err
	}
	var texts []string
	for _, l := range matcher.New(base).Literals() {
		if text := strings.TrimRight(l.Text, "\r\n"); text != "" {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	_, err = fmt.Println(strings.Join(slices.Compact(texts), "\n"))
	return err
}

func count(literals, log string) error {
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
	src, err := os.Open(log)
	if err != nil {
		return err
	}
	defer src.Close()
	lines := 0
	err = set.Read(context.Background(), src, scan.Reading{}, func(c *scan.Chunk) error {
		lines += len(c.Hits)
		return nil
	})
	fmt.Println(lines)
	return err
}
