// Package bundle brings knowledge that is newer than the program: a bundle is a knowledge base as a zip file, signed with minisign
// (https://jedisct1.github.io/minisign/), and a Store keeps those that were installed. Nothing here speaks to a network.
package bundle

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"aead.dev/minisign"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
)

// ourKey is the public key of the released knowledge. Its private half is a secret of the workflow that releases.
//
//go:embed minisign.pub
var ourKey string

// What a bundle may take, in bytes. The shipped knowledge has a tenth of either.
const (
	MaxSize     = 64 << 20
	maxUnpacked = 256 << 20
	maxFiles    = 50_000
)

// SignatureSuffix is what the name of a bundle's signature has after the bundle's.
const SignatureSuffix = ".minisig"

// ErrNotSigned says that a bundle is not what its signer signed.
var ErrNotSigned = errors.New("the signature does not fit: this is not what was signed, or somebody else signed it")

// Bundle is knowledge that was read and found in order.
type Bundle struct {
	rules.Knowledge
	Files   fs.FS
	content []byte
}

// Key reads a public key: the two lines of a minisign.pub, or the second alone. "" is the key of the released knowledge.
func Key(text string) (key minisign.PublicKey, err error) {
	if strings.TrimSpace(text) == "" {
		text = ourKey
	}
	lines := strings.Fields(text)
	if len(lines) > 0 {
		err = key.UnmarshalText([]byte(lines[len(lines)-1]))
	}
	if len(lines) == 0 || err != nil {
		return key, errors.New("this is no public key of minisign")
	}
	return key, nil
}

// Verified reads a bundle that has the signature of key, and everything in it. The error is ErrNotSigned, wraps rules.ErrTooNew, or tells
// what in it this program cannot read.
func Verified(content, signature []byte, key minisign.PublicKey) (*Bundle, error) {
	if !minisign.Verify(key, content, signature) {
		return nil, ErrNotSigned
	}
	b, err := open(content)
	if err != nil {
		return nil, err
	}
	base, err := rules.Load(b.Files)
	if err == nil {
		_, err = backend.Load(base.Vocabulary, b.Files)
	}
	if err != nil {
		return nil, fmt.Errorf("the knowledge of %s cannot be read by this program; a newer triage may: %w", b.Version, err)
	}
	return b, nil
}

// open reads what a bundle is.
func open(content []byte) (*Bundle, error) {
	files, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("this is no bundle: %w", err)
	}
	var unpacked uint64
	for _, f := range files.File {
		unpacked += f.UncompressedSize64
		if unpacked > maxUnpacked || len(files.File) > maxFiles {
			return nil, errors.New("this is no bundle: it is larger than knowledge can be")
		}
	}
	knowledge, err := rules.ReadKnowledge(files)
	if err != nil {
		return nil, err
	}
	return &Bundle{Knowledge: knowledge, Files: files, content: content}, nil
}

// Pack makes a bundle of a knowledge base that this program can read. The same files make the same bytes.
func Pack(files fs.FS) ([]byte, error) {
	content, err := packAll(files)
	if err == nil {
		_, err = open(content)
	}
	return content, err
}

func packAll(files fs.FS) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !packed(name) {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		// Of what is compressed, a start would unpack every file to see whether it is the one that the index knows.
		to, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err == nil {
			_, err = io.Copy(to, bytes.NewReader(content))
		}
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	return out.Bytes(), err
}

// packed tells whether a file of a folder of rules belongs to the knowledge: the Go code beside it does not.
func packed(name string) bool {
	top, _, below := strings.Cut(name, "/")
	if !below {
		return name == rules.IndexFile || path.Ext(name) == ".yaml"
	}
	return slices.Contains([]string{"failures", "backends"}, top)
}

// Sign makes the signature of a bundle with a private key of minisign, which has a password or not.
func Sign(content, key []byte, password string) ([]byte, error) {
	var private minisign.PrivateKey
	err := private.UnmarshalText(key)
	if minisign.IsEncrypted(key) {
		private, err = minisign.DecryptKey(password, key)
	}
	if err != nil {
		return nil, fmt.Errorf("this is no private key of minisign, or its password is another one: %w", err)
	}
	return minisign.Sign(private, content), nil
}
