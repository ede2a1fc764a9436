package logline

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// headBytes is how much of a source is looked at to tell its form.
const headBytes = 64 << 10

// The byte order marks with which a text tells its encoding.
var (
	utf16Marks = [][]byte{{0xff, 0xfe}, {0xfe, 0xff}}
	utf8Mark   = []byte{0xef, 0xbb, 0xbf}
)

// Decode gives a log as UTF-8, and its first bytes, at most 64 KiB, which are still to be read: UTF-16 that begins with a byte order
// mark is converted, the mark of UTF-8 dropped, all else passed through as it is. A file that is passed through from its beginning is
// given as the file that it is, which can be read at any place. The error is r's.
func Decode(r io.Reader) (head []byte, text io.Reader, err error) {
	if file, ok := r.(*os.File); ok {
		if head, ok := plainHead(file); ok {
			return head, file, nil
		}
	}
	decoded, err := decoded(r)
	if err != nil {
		return nil, nil, err
	}
	start := bufio.NewReaderSize(decoded, headBytes)
	head, _ = start.Peek(headBytes) // an error comes again when the log is read
	return head, start, nil
}

// plainHead gives the first bytes of a file that can be read at any place, stands at its beginning, and has no mark.
func plainHead(file *os.File) (head []byte, ok bool) {
	size := int64(headBytes)
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		size = min(size, info.Size()) // of many short logs
	}
	head = make([]byte, size)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false
	}
	at, err := file.Seek(0, io.SeekCurrent)
	head = head[:n]
	return head, err == nil && at == 0 && !isUTF16(head) && !bytes.HasPrefix(head, utf8Mark)
}

func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, utf16Marks[0]) || bytes.HasPrefix(head, utf16Marks[1])
}

// decoded gives r as UTF-8.
func decoded(r io.Reader) (io.Reader, error) {
	start := bufio.NewReaderSize(r, 4096)
	mark, err := start.Peek(len(utf8Mark))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case isUTF16(mark):
		return transform.NewReader(start, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()), nil
	case bytes.Equal(mark, utf8Mark):
		_, err := start.Discard(len(utf8Mark))
		return start, err
	}
	return start, nil
}
