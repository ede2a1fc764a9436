// Command history makes the tables of rules/history: which release of a package has which module, name, method and parameter. It reads
// the archives of a package index, of a wheel only the files that say so, and of a release only what is new in it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpu-triage/triage/rules/history"
)

func main() {
	log.SetFlags(log.Ltime)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	index := flag.String("index", "", "the `ADDRESS` of the package index (default: pip's)")
	python := flag.String("python", "python3", "the Python that parses, the newest that there is")
	out := flag.String("out", "rules/history/data", "the `FOLDER` of the tables")
	cached := flag.String("cache", defaultCache(), "the `FOLDER` in which downloads are kept")
	download := flag.Bool("download", false, "fill the cache and make no tables")
	anew := flag.Bool("anew", false, "read all releases again, not only those that the tables lack")
	parallel := flag.Int("parallel", 4, "how many packages are downloaded at a time")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: history [flags] [PACKAGE]...\n\nMakes the tables of the packages named, by default of all.")
		flag.PrintDefaults()
	}
	flag.Parse()
	chosen, err := choose(flag.Args())
	if err != nil {
		return err
	}
	address := *index
	if address == "" {
		address, err = pipsIndex(ctx, *python)
		if err != nil {
			return err
		}
	}
	parser, err := startParser(ctx, *python)
	if err != nil {
		return err
	}
	m := &maker{
		client: &client{index: strings.TrimSuffix(address, "/"), http: &http.Client{Timeout: 10 * time.Minute}},
		parser: parser,
		cache:  cache{*cached}, out: *out, anew: *anew, download: *download,
	}
	err = m.makeAll(ctx, chosen, *parallel)
	if closing := parser.close(); err == nil {
		err = closing
	}
	return err
}

// makeAll makes the tables of some packages, so many at a time.
func (m *maker) makeAll(ctx context.Context, chosen []history.Listing, parallel int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, d := range chosen {
		group.Go(func() error {
			encoded, err := m.make(ctx, d)
			if err != nil {
				return fmt.Errorf("%s: %w", d.Name, err)
			}
			if m.download {
				log.Printf("%s: downloaded", d.Name)
				return nil
			}
			log.Printf("%s: %d kB", d.Name, len(encoded)>>10)
			return os.WriteFile(m.tableFile(d), encoded, 0o644)
		})
	}
	return group.Wait()
}

func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "triage-history")
}

// choose finds packages among those that are listed: all when none is named.
func choose(names []string) ([]history.Listing, error) {
	if len(names) == 0 {
		return history.Listed(), nil
	}
	var chosen []history.Listing
	for _, name := range names {
		i := slices.IndexFunc(history.Listed(), func(d history.Listing) bool { return normal(d.Name) == normal(name) })
		if i < 0 {
			return nil, fmt.Errorf("%s is not in rules/history/packages.txt; add a line for it", name)
		}
		chosen = append(chosen, history.Listed()[i])
	}
	return chosen, nil
}

// pipsIndex is the index that pip takes packages from: the one that it is set up to use, else its own.
func pipsIndex(ctx context.Context, python string) (string, error) {
	if address := os.Getenv("PIP_INDEX_URL"); address != "" {
		return address, nil
	}
	for _, ask := range [][]string{
		{"-m", "pip", "config", "get", "global.index-url"},
		{"-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"},
	} {
		out, err := exec.CommandContext(ctx, python, ask...).Output()
		if address := strings.TrimSpace(string(out)); err == nil && address != "" {
			return address, nil
		}
	}
	return "", errors.New("pip does not tell its package index; give its address with -index")
}
