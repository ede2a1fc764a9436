package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gpu-triage/triage/matcher/source"
)

// eachLog calls visit for every log that paths name: a file, all logs below a folder in the order of their names, or standard input
// for "-" and when nothing is named.
func eachLog(ctx context.Context, std streams, paths []string, visit func(name string, log io.Reader) error) error {
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	for _, path := range paths {
		files, all, err := pickedFrom(path)
		if err != nil {
			return err
		}
		if len(files) < all {
			fmt.Fprintf(std.err, "triage: read %d of %d files in %s; a file that is named is read whatever it is\n", len(files), all, path)
		}
		for _, file := range files {
			if err := eachIn(ctx, std, file, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// filesOf lists the files that a path stands for.
func filesOf(path string) ([]string, error) {
	files, _, err := pickedFrom(path)
	return files, err
}

// pickedFrom is filesOf that tells among how many files these were picked.
func pickedFrom(path string) (files []string, all int, err error) {
	if path == "-" {
		return []string{path}, 1, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.IsDir() {
		return []string{path}, 1, nil
	}
	files, all, err = logsIn(path)
	switch {
	case err != nil || len(files) > 0:
		return files, all, err
	case all == 0:
		return nil, 0, fmt.Errorf("%s: no files in this folder", path)
	}
	return nil, all, fmt.Errorf("%s: none of the %d files looks like a log; name a file to read it whatever it is", path, all)
}

func eachIn(ctx context.Context, std streams, name string, visit func(string, io.Reader) error) error {
	if name == "-" {
		if _, typed := terminal(std.in); typed {
			fmt.Fprintln(std.err, "triage: reading a log from the terminal, up to Ctrl-D; triage FILE reads a file, triage --help tells more")
		}
		return source.Each(name, interruptible(ctx, std.in), source.DefaultLimits, visit)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return source.Each(sourceName(name), file, source.DefaultLimits, visit)
}

// sourceName is a file's path as reports name it and as the engine reads it, with slashes on Windows too: ranks are told by folders.
func sourceName(file string) string { return filepath.ToSlash(file) }

// interruptible makes reading from a pipe or a terminal end with ctx: the read that is waiting then cannot be stopped itself.
func interruptible(ctx context.Context, in io.Reader) io.Reader {
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return in
		}
	}
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.CopyBuffer(w, struct{ io.Reader }{in}, make([]byte, 256<<10))
		w.CloseWithError(err)
	}()
	return r
}

// readAtMost reads a file that should be small.
func readAtMost(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = errors.New("too large for what it should hold")
	}
	return content, err
}
