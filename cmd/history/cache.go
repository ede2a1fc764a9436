package main

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gpu-triage/triage/rules/history/table"
	"github.com/klauspost/compress/zstd"
)

// cache keeps what was downloaded and parsed, so that a second run does neither.
type cache struct{ dir string }

// pack is what a release's archive holds, with the contents that no older release has.
type pack struct {
	Members  []member
	Contents []content
	Metadata []byte
}

type content struct {
	Member member
	Source []byte
}

// declared is what Python said of the contents of a pack.
type declared struct {
	Member  member
	Records []table.Record
}

func (c cache) load(name string, value any) (bool, error) {
	compressed, err := os.ReadFile(filepath.Join(c.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	decoder, err := zstd.NewReader(bytes.NewReader(compressed), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return false, err
	}
	defer decoder.Close()
	return true, gob.NewDecoder(decoder).Decode(value)
}

// save writes to another name first: an interrupted run leaves no half a file.
func (c cache) save(name string, value any) error {
	var body bytes.Buffer
	encoder, err := zstd.NewWriter(&body, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	if err := errors.Join(gob.NewEncoder(encoder).Encode(value), encoder.Close()); err != nil {
		return err
	}
	target := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(target+".part", body.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(target+".part", target)
}
