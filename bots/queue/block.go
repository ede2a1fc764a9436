package queue

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"os"
	"time"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server"
)

// The format of JetStream's files, as server/filestore.go of nats-server v2.15.2 writes and reads it. JetStream itself cuts a file off at
// the first record that is damaged, with all that follows.
//
//	length 4, sequence 8, time 8, length of the subject 2, subject, [length of the headers 4, headers,] data, checksum 8
const (
	recordHead = 22
	recordSum  = 8
	hasHeaders = 1 << 31 // in the length
	erased     = 1 << 63 // in the sequence
	tombstone  = 1 << 62 // in the sequence: that message is deleted

	maxSequence = 1 << 48 // more than any store comes to
	maxRecord   = 4 << 20
)

// record is one of a file.
type record struct {
	sequence uint64
	deleted  bool // or erased: of the message there is only the number
	at       time.Time
	subject  string
	header   []byte
	data     []byte
}

// block reads the records of a file.
type block struct {
	buf []byte
	sum hash.Hash64
}

// newBlock reads a file of a stream. The error says that nothing of it can be read.
func newBlock(stream string, index int, name string) (*block, error) {
	file, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, index))
	sum, err := highwayhash.New64(key[:])
	if err != nil {
		return nil, err
	}
	var packed server.CompressionInfo
	if n, err := packed.UnmarshalMetadata(file); err != nil {
		return nil, err
	} else if n > 0 {
		file, err = packed.Algorithm.Decompress(file[n:])
		if err != nil {
			return nil, err
		}
	}
	return &block{file, sum}, nil
}

// each calls f with every record that is whole, and damaged with every place from which on there is none for a while. It returns where the
// last record begins of which a kill left only a part, else the end.
func (b *block) each(f func(record), damaged func(offset int)) (end int) {
	for i := 0; i < len(b.buf); {
		if r, n, ok := b.at(i); ok {
			f(r)
			i += n
			continue
		}
		next := i + 1
		for next < len(b.buf) {
			if _, _, ok := b.at(next); ok {
				break
			}
			next++
		}
		if next == len(b.buf) && b.torn(i) {
			return i
		}
		damaged(i)
		i = next
	}
	return len(b.buf)
}

// at reads the record that begins at an offset, n bytes long.
func (b *block) at(i int) (r record, n int, ok bool) {
	n, subject, ok := b.head(i)
	if !ok || i+n > len(b.buf) {
		return r, 0, false
	}
	text := b.buf[i : i+n]
	head, body, sum := text[:recordHead], text[recordHead:n-recordSum], text[n-recordSum:]
	headers := 0
	b.sum.Reset()
	_, _ = b.sum.Write(head[4:20])
	_, _ = b.sum.Write(body[:subject])
	body, name := body[subject:], string(body[:subject])
	if binary.LittleEndian.Uint32(head)&hasHeaders != 0 {
		if len(body) < 4 {
			return r, 0, false
		}
		headers = int(binary.LittleEndian.Uint32(body))
		body = body[4:]
	}
	_, _ = b.sum.Write(body)
	if headers > len(body) || !bytes.Equal(b.sum.Sum(nil), sum) {
		return r, 0, false
	}
	sequence := binary.LittleEndian.Uint64(head[4:])
	return record{sequence: sequence &^ (erased | tombstone), deleted: sequence&(erased|tombstone) != 0,
		at: time.Unix(0, int64(binary.LittleEndian.Uint64(head[12:]))), subject: name, header: body[:headers], data: body[headers:]}, n, true
}

// head reads the lengths at the beginning of a record, and tells whether they can be some.
func (b *block) head(i int) (n, subject int, ok bool) {
	if i+recordHead > len(b.buf) {
		return 0, 0, false
	}
	head := b.buf[i : i+recordHead]
	n = int(binary.LittleEndian.Uint32(head) &^ hasHeaders)
	sequence := binary.LittleEndian.Uint64(head[4:]) &^ (erased | tombstone)
	subject = int(binary.LittleEndian.Uint16(head[20:]))
	ok = n >= recordHead+subject+recordSum && n <= maxRecord && sequence < maxSequence && binary.LittleEndian.Uint64(head[12:]) <= math.MaxInt64
	return n, subject, ok
}

// torn tells whether the file ends within the record that begins at an offset.
func (b *block) torn(i int) bool {
	if i+recordHead > len(b.buf) {
		return true
	}
	n, _, ok := b.head(i)
	return ok && i+n > len(b.buf)
}
