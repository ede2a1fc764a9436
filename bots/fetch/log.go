// Package fetch gets logs from elsewhere without being led astray: only from allowed hosts, over https, never from this machine's
// own network, within bounds of size and time. What is packed stays so, but for a Content-Encoding; matcher/source unpacks.
//
// It is net/http with checks of its own, because they belong in three places at once: the address that was given, every redirect, and
// the machine that a name resolves to.
package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Log is a log with the name that its reader knows it by. It is a file at Path, else Text.
type Log struct {
	Name string
	Path string
	Text []byte
}

// Open returns the log's bytes.
func (l Log) Open() (io.ReadCloser, error) {
	if l.Path != "" {
		return os.Open(l.Path)
	}
	return io.NopCloser(bytes.NewReader(l.Text)), nil
}

// ErrTooLarge says that something had more bytes than it may have.
var ErrTooLarge = errors.New("larger than allowed")

// limited fails with ErrTooLarge instead of ending early.
type limited struct {
	from io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		if n, err := l.from.Read(make([]byte, 1)); n == 0 && err != nil {
			return 0, err
		}
		return 0, ErrTooLarge
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.from.Read(p)
	l.left -= int64(n)
	return n, err
}

// Decoded undoes a Content-Encoding (none, gzip or zstd), giving at most limit bytes and ErrTooLarge after them.
func Decoded(body io.Reader, encoding string, limit int64) (io.ReadCloser, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return io.NopCloser(&limited{body, limit}), nil
	case "gzip":
		r, err := gzip.NewReader(body)
		if err != nil {
			return nil, fmt.Errorf("not gzip, although Content-Encoding says so: %w", err)
		}
		return io.NopCloser(&limited{r, limit}), nil
	case "zstd":
		r, err := zstd.NewReader(body, zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("not zstd, although Content-Encoding says so: %w", err)
		}
		return struct {
			io.Reader
			io.Closer
		}{&limited{r, limit}, closer(r.Close)}, nil
	}
	return nil, fmt.Errorf("the Content-Encoding %q is not known: send it plain, or as gzip or zstd", encoding)
}

// maxWindow is the memory that a zstd stream may ask for.
const maxWindow = 128 << 20

type closer func()

func (c closer) Close() error { c(); return nil }
