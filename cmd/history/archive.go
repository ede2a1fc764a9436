package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// member is a file of an archive, by its path below the place that Python imports from.
type member struct {
	Path string `json:"path"`
	CRC  uint32 `json:"crc"`
	Size uint64 `json:"size"`
}

// archive is the part of a release's archive that tells its names.
type archive struct {
	members []member
	read    func(want []member) (map[member][]byte, error)
}

// open reads the directory of a release's archive, and of a wheel nothing else.
func (c *client) open(ctx context.Context, f file) (*archive, error) {
	if strings.HasSuffix(f.Filename, ".whl") {
		return c.wheel(ctx, f)
	}
	body, err := c.get(ctx, f.URL, "", "")
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(f.Filename, ".zip") {
		return zipped(body)
	}
	return tarred(body)
}

// remote reads a file at an address in pieces.
type remote struct {
	ctx    context.Context
	client *client
	url    string
	pieces []piece
}

type piece struct {
	from int64
	data []byte
}

func (r *remote) fetch(from, to int64) error {
	data, err := r.client.get(r.ctx, r.url, fmt.Sprintf("%d-%d", from, to-1), "")
	if err != nil {
		return err
	}
	if int64(len(data)) != to-from {
		return fmt.Errorf("%s: %d bytes came instead of %d", r.url, len(data), to-from)
	}
	r.pieces = append(r.pieces, piece{from, data})
	return nil
}

func (r *remote) ReadAt(p []byte, at int64) (int, error) {
	for _, have := range r.pieces {
		if at >= have.from && at+int64(len(p)) <= have.from+int64(len(have.data)) {
			return copy(p, have.data[at-have.from:]), nil
		}
	}
	if err := r.fetch(at, at+int64(len(p))); err != nil {
		return 0, err
	}
	return copy(p, r.pieces[len(r.pieces)-1].data), nil
}

const (
	tail      = 1 << 20   // of a wheel, in which its directory mostly is
	gap       = 128 << 10 // what is read along rather than asked for apart
	pieceSize = 32 << 20
)

func (c *client) wheel(ctx context.Context, f file) (*archive, error) {
	if f.Size == 0 {
		return nil, fmt.Errorf("%s: the index does not tell its size", f.Filename)
	}
	r := &remote{ctx: ctx, client: c, url: f.URL}
	if err := r.fetch(max(0, f.Size-tail), f.Size); err != nil {
		return nil, err
	}
	directory, err := zip.NewReader(r, f.Size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Filename, err)
	}
	offsets, err := r.offsets()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Filename, err)
	}
	return fromZip(directory, func(files []*zip.File) error { return r.prefetch(files, offsets) }), nil
}

// offsets reads where each member of a zip file begins, which archive/zip does not tell without a read for each.
func (r *remote) offsets() (map[string]int64, error) {
	at := bytes.LastIndex(r.pieces[0].data, []byte("PK\x05\x06"))
	if at < 0 || len(r.pieces[0].data) < at+20 {
		return nil, zip.ErrFormat
	}
	end := r.pieces[0].data[at:]
	directory := make([]byte, binary.LittleEndian.Uint32(end[12:]))
	if _, err := r.ReadAt(directory, int64(binary.LittleEndian.Uint32(end[16:]))); err != nil {
		return nil, err
	}
	const fixed = 46 // bytes of an entry before its name
	offsets := make(map[string]int64)
	for len(directory) >= fixed {
		name := int(binary.LittleEndian.Uint16(directory[28:]))
		size := fixed + name + int(binary.LittleEndian.Uint16(directory[30:])) + int(binary.LittleEndian.Uint16(directory[32:]))
		if size > len(directory) {
			return nil, zip.ErrFormat
		}
		offsets[string(directory[fixed:fixed+name])] = int64(binary.LittleEndian.Uint32(directory[42:]))
		directory = directory[size:]
	}
	return offsets, nil
}

// prefetch reads the places of members, those that are near together at once.
func (r *remote) prefetch(files []*zip.File, offsets map[string]int64) error {
	slices.SortFunc(files, func(a, b *zip.File) int { return cmp.Compare(offsets[a.Name], offsets[b.Name]) })
	type span struct{ from, to int64 }
	var spans []span
	for _, f := range files {
		from := offsets[f.Name]
		to := from + int64(f.CompressedSize64) + int64(len(f.Name)) + 1024
		to = min(to, r.end())
		if n := len(spans); n > 0 && from-spans[n-1].to < gap && to-spans[n-1].from < pieceSize {
			spans[n-1].to = max(to, spans[n-1].to)
			continue
		}
		spans = append(spans, span{from, to})
	}
	for _, s := range spans {
		if err := r.fetch(s.from, s.to); err != nil {
			return err
		}
	}
	return nil
}

// end is where the file ends, which the first piece tells.
func (r *remote) end() int64 { return r.pieces[0].from + int64(len(r.pieces[0].data)) }

func fromZip(directory *zip.Reader, prefetch func([]*zip.File) error) *archive {
	files := make(map[member]*zip.File)
	a := &archive{}
	for _, f := range directory.File {
		if m := (member{f.Name, f.CRC32, f.UncompressedSize64}); wanted(f.Name) {
			files[m] = f
			a.members = append(a.members, m)
		}
	}
	a.read = func(want []member) (map[member][]byte, error) {
		var chosen []*zip.File
		for _, m := range want {
			chosen = append(chosen, files[m])
		}
		if err := prefetch(chosen); err != nil {
			return nil, err
		}
		contents := make(map[member][]byte)
		for _, m := range want {
			content, err := readMember(files[m])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Path, err)
			}
			contents[m] = content
		}
		return contents, nil
	}
	return a
}

func readMember(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func zipped(body []byte) (*archive, error) {
	directory, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, err
	}
	return rooted(fromZip(directory, func([]*zip.File) error { return nil })), nil
}

func tarred(body []byte) (*archive, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	contents := make(map[member][]byte)
	a := &archive{read: func([]member) (map[member][]byte, error) { return contents, nil }}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return rooted(a), nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg || !wanted(header.Name) {
			continue
		}
		var content []byte
		if read(header.Name) {
			content, err = io.ReadAll(files)
			if err != nil {
				return nil, err
			}
		}
		m := member{header.Name, crc32.ChecksumIEEE(content), uint64(header.Size)}
		a.members = append(a.members, m)
		contents[m] = content
	}
}

// rooted takes the folder of a source archive, and src and its likes, from the paths of its members.
func rooted(a *archive) *archive {
	shorter := &archive{}
	original := make(map[member]member)
	for _, m := range a.members {
		short := m
		_, short.Path, _ = strings.Cut(m.Path, "/")
		for _, folder := range []string{"src/", "lib/", "python/", "source/"} {
			short.Path = strings.TrimPrefix(short.Path, folder)
		}
		original[short] = m
		shorter.members = append(shorter.members, short)
	}
	shorter.read = func(want []member) (map[member][]byte, error) {
		var originals []member
		for _, m := range want {
			originals = append(originals, original[m])
		}
		contents, err := a.read(originals)
		if err != nil {
			return nil, err
		}
		renamed := make(map[member][]byte)
		for _, m := range want {
			renamed[m] = contents[original[m]]
		}
		return renamed, nil
	}
	return shorter
}

// wanted tells whether a member says something about names: sources, extension modules, and the metadata.
func wanted(name string) bool {
	switch path.Ext(name) {
	case ".py", ".pyi", ".so", ".pyd", ".pyx":
		return true
	}
	base := path.Base(name)
	return base == "METADATA" && strings.HasSuffix(path.Dir(name), ".dist-info") || base == "PKG-INFO" && strings.Count(name, "/") <= 1
}

// read tells whether a member's content is needed, and not its name alone.
func read(name string) bool {
	switch path.Ext(name) {
	case ".so", ".pyd", ".pyx":
		return false
	}
	return true
}
