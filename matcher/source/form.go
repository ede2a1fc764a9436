package source

import (
	"bytes"
	"errors"
	"io"
)

// form is how a file is packed.
type form string

const (
	plain     form = ""
	gzipped   form = "gzip"
	zstandard form = "zstd"
	zipped    form = "zip"
	tarred    form = "tar"
)

// marks are the first bytes of packed files, and where they stand. The forms beyond the four above are known only so that they can be
// named.
var marks = []struct {
	form form
	at   int
	mark string
}{
	{gzipped, 0, "\x1f\x8b\x08"},
	{zstandard, 0, "\x28\xb5\x2f\xfd"},
	{zipped, 0, "PK\x03\x04"},
	{zipped, 0, "PK\x05\x06"}, // one without files
	{tarred, 257, "ustar"},
	{"bzip2", 0, "BZh"},
	{"xz", 0, "\xfd7zXZ\x00"},
	{"lz4", 0, "\x04\x22\x4d\x18"},
	{"7z", 0, "7z\xbc\xaf\x27\x1c"},
}

const headBytes = 512

func formOf(head []byte) form {
	for _, m := range marks {
		if len(head) >= m.at && bytes.HasPrefix(head[m.at:], []byte(m.mark)) {
			return m.form
		}
	}
	return plain
}

// seekable is a file that can be read at any place.
type seekable interface {
	io.ReaderAt
	io.Seeker
}

// peek returns the first bytes of r, and a reader that still has them: r itself when it can be read at any place.
func peek(r io.Reader) ([]byte, io.Reader, error) {
	head := make([]byte, headBytes)
	if file, ok := r.(seekable); ok {
		if at, err := file.Seek(0, io.SeekCurrent); err == nil {
			n, err := file.ReadAt(head, at)
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, nil, err
			}
			return head[:n], r, nil
		}
	}
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, err
	}
	return head[:n], io.MultiReader(bytes.NewReader(head[:n]), r), nil
}
