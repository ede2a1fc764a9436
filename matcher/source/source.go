// Package source opens logs as people keep them: plain, compressed with gzip or zstd, or packed in zip and tar archives, one inside
// the other. What a file is, its first bytes tell, not its name. Memory stays bounded, and what unpacks to absurd sizes is refused.
package source

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Limits bound what one source may unpack to.
type Limits struct {
	Bytes   int64 // unpacked, in all
	Ratio   int64 // unpacked bytes for one packed byte
	Free    int64 // unpacked bytes of a file up to which Ratio does not count: small files compress as well as they like
	Entries int   // entries of archives, in all: files, folders and whatever else
	Depth   int   // archives and compressions inside one another
	Held    int64 // bytes of a zip archive that cannot be read at any place, and so has to be held in memory
}

// DefaultLimits are for files that the user named: beyond any log, but they stop a bomb.
var DefaultLimits = Limits{Bytes: 1 << 40, Ratio: 200, Free: 64 << 20, Entries: 100_000, Depth: 5, Held: 256 << 20}

// What is wrapped by the errors of Each.
var (
	ErrLimit = errors.New("refused")        // a source that goes over a limit
	ErrForm  = errors.New("not read")       // one that is packed in a form that is not known
	ErrFile  = errors.New("the file's own") // every one that is about a source, as a damaged one
)

// Each calls visit for every log in r, in the order in which they are packed: once when r is no archive, with r itself when it is not
// compressed either. Files of an archive are named "archive/file". The error is visit's, r's, or names the source and the limit.
func Each(name string, r io.Reader, limits Limits, visit func(name string, log io.Reader) error) error {
	u := &unpacker{limits: limits, visit: visit}
	return u.open(name, r, 0)
}

// An unpacker walks through one source; what it counts is shared by everything inside.
type unpacker struct {
	limits   Limits
	visit    func(string, io.Reader) error
	unpacked int64
	entries  int
}

// fileError is an error that names its file already.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string { return e.name + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

func (e *fileError) Is(target error) bool { return target == ErrFile }

// named puts the file's name before err, unless err comes from a file inside and has one.
func named(name string, err error) error {
	var inner *fileError
	if errors.As(err, &inner) {
		return err
	}
	return &fileError{name, err}
}

func (u *unpacker) open(name string, r io.Reader, depth int) error {
	head, r, err := peek(r)
	if err != nil {
		return named(name, err)
	}
	form := formOf(head)
	if form == plain {
		return u.visit(name, r)
	}
	if depth == u.limits.Depth {
		return named(name, fmt.Errorf("%w: more than %d archives inside one another", ErrLimit, depth))
	}
	switch form {
	case gzipped:
		return u.gzip(name, r, depth)
	case zstandard:
		return u.zstd(name, r, depth)
	case tarred:
		return u.tar(name, r, depth)
	case zipped:
		return u.zip(name, r, depth)
	}
	return named(name, fmt.Errorf("%s is %w; unpack it and name the result", form, ErrForm))
}

func (u *unpacker) gzip(name string, r io.Reader, depth int) error {
	packed := &counter{r: r}
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return named(name, err)
	}
	defer unpacked.Close()
	return u.open(name, u.guard(name, unpacked, func() int64 { return packed.n }), depth+1)
}

func (u *unpacker) zstd(name string, r io.Reader, depth int) error {
	packed := &counter{r: r}
	unpacked, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return named(name, err)
	}
	defer unpacked.Close()
	return u.open(name, u.guard(name, unpacked, func() int64 { return packed.n }), depth+1)
}

func (u *unpacker) tar(name string, r io.Reader, depth int) error {
	files := tar.NewReader(r)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return named(name, err)
		}
		if err := u.entry(name); err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := u.open(name+"/"+header.Name, files, depth+1); err != nil {
			return err
		}
	}
}

func (u *unpacker) zip(name string, r io.Reader, depth int) error {
	at, size, err := u.anywhere(name, r)
	if err != nil {
		return err
	}
	if err := u.directory(name, at, size); err != nil {
		return err
	}
	files, err := zip.NewReader(at, size)
	if err != nil {
		return named(name, err)
	}
	for _, file := range files.File {
		if err := u.entry(name); err != nil {
			return err
		}
		if !file.Mode().IsRegular() {
			continue
		}
		inside := strings.ReplaceAll(file.Name, `\`, "/") // as some programs on Windows write it
		if err := u.zipped(name+"/"+inside, file, depth); err != nil {
			return err
		}
	}
	return nil
}

// directoryMark begins each entry of a zip archive's directory (APPNOTE.TXT of PKWARE, 4.3.12).
const directoryMark = "PK\x01\x02"

// directory refuses a zip archive with too many files before its directory is read into memory: some hundred bytes for each of them. The
// number that the archive states may be wrong, so that the marks are counted. Those in archives that are stored within it count too, as
// their files do later.
func (u *unpacker) directory(name string, at io.ReaderAt, size int64) error {
	buffer, entries := make([]byte, 256<<10), u.entries
	for from, kept := int64(0), 0; from < size; {
		n, err := at.ReadAt(buffer[kept:], from)
		if err != nil && !errors.Is(err, io.EOF) || n == 0 {
			return named(name, fmt.Errorf("cannot be read: %w", err))
		}
		whole := buffer[:kept+n]
		if entries += bytes.Count(whole, []byte(directoryMark)); entries > u.limits.Entries {
			return named(name, fmt.Errorf("%w: more than %d files", ErrLimit, u.limits.Entries))
		}
		from += int64(n)
		kept = copy(buffer, whole[max(0, len(whole)-len(directoryMark)+1):])
	}
	return nil
}

func (u *unpacker) zipped(name string, file *zip.File, depth int) error {
	unpacked, err := file.Open()
	if err != nil {
		return named(name, err)
	}
	defer unpacked.Close()
	packed := int64(min(file.CompressedSize64, 1<<62))
	return u.open(name, u.guard(name, unpacked, func() int64 { return packed }), depth+1)
}

// anywhere makes r readable at any place, as zip wants it: its directory is at its end.
func (u *unpacker) anywhere(name string, r io.Reader) (io.ReaderAt, int64, error) {
	if file, ok := r.(seekable); ok {
		size, err := file.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, 0, named(name, err)
		}
		return file, size, nil
	}
	held, err := io.ReadAll(io.LimitReader(r, u.limits.Held+1))
	if err != nil {
		return nil, 0, named(name, err)
	}
	if int64(len(held)) > u.limits.Held {
		return nil, 0, named(name, fmt.Errorf("%w: a zip archive from a pipe or inside another is read up to %d MiB; name the file", ErrLimit, u.limits.Held>>20))
	}
	return bytes.NewReader(held), int64(len(held)), nil
}

func (u *unpacker) entry(name string) error {
	if u.entries++; u.entries > u.limits.Entries {
		return named(name, fmt.Errorf("%w: more than %d files", ErrLimit, u.limits.Entries))
	}
	return nil
}

// guard passes on what r unpacks until a limit is reached. Packed tells how many bytes it was unpacked from so far.
func (u *unpacker) guard(name string, r io.Reader, packed func() int64) io.Reader {
	return &guard{unpacker: u, name: name, r: r, packed: packed}
}

type guard struct {
	*unpacker
	name     string
	r        io.Reader
	packed   func() int64
	unpacked int64
}

// Read implements io.Reader. An error of the compression names the file, since nothing above knows what it was reading.
func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.unpacked += int64(n)
	g.unpacker.unpacked += int64(n)
	if g.unpacker.unpacked > g.limits.Bytes {
		return n, named(g.name, fmt.Errorf("%w: unpacks to more than %d MiB", ErrLimit, g.limits.Bytes>>20))
	}
	if g.unpacked > g.limits.Free && g.unpacked/g.limits.Ratio > g.packed() {
		return n, named(g.name, fmt.Errorf("%w: unpacks to more than %d times its size; if that is right, unpack it and name the result", ErrLimit, g.limits.Ratio))
	}
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, named(g.name, fmt.Errorf("ends too early: %w", err))
	}
	return n, named(g.name, fmt.Errorf("damaged: %w", err))
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
