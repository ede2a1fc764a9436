package queue

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is in the vault is on disk only sealed; another key is refused, and a new one takes over from the old.
func TestVault(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	open := func() *Store {
		t.Helper()
		s, err := Open(ctx, Options{Dir: dir, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const secret = "xoxb-plain-as-day"
	first, second := strings.Repeat("a", 32), strings.Repeat("b", 32)
	vault := func(s *Store, keys ...string) *Vault {
		t.Helper()
		v, err := s.Vault(ctx, keys, false)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	holds := func(v *Vault, name, want string) {
		t.Helper()
		var got string
		if found, err := v.Get(ctx, name, &got); err != nil || found != (want != "") || got != want {
			t.Errorf("%s: %q, %v, %v", name, got, found, err)
		}
	}
	s := open()
	if v, err := s.Vault(ctx, nil, false); v != nil || err != nil {
		t.Errorf("no key, with nothing stored: %v, %v", v, err)
	}
	v := vault(s, first)
	for _, name := range []string{"slack:T1", "slack:T2"} {
		if err := v.Put(ctx, name, secret+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Delete(ctx, "slack:T2"); err != nil {
		t.Fatal(err)
	}
	holds(v, "slack:T1", secret+"slack:T1")
	holds(v, "slack:T2", "")
	if n, err := v.Count(ctx, "slack"); n != 1 || err != nil {
		t.Errorf("%d secrets of Slack, %v", n, err)
	}
	if _, err := s.Vault(ctx, []string{second}, false); !errors.Is(err, ErrWrongKey) {
		t.Errorf("another key: %v", err)
	}
	if _, err := s.Vault(ctx, nil, false); !errors.Is(err, ErrWrongKey) {
		t.Errorf("no key, with something stored: %v", err)
	}
	if _, err := s.Vault(ctx, []string{"short"}, false); err == nil {
		t.Error("a short key is taken")
	}
	s.Close()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s has the secret in plain", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	s = open()
	defer s.Close()
	holds(vault(s, second, first), "slack:T1", secret+"slack:T1") // and seals it anew
	holds(vault(s, second), "slack:T1", secret+"slack:T1")
	if _, err := s.Vault(ctx, []string{first}, false); !errors.Is(err, ErrWrongKey) {
		t.Errorf("the old key still opens: %v", err)
	}
	if _, err := s.Vault(ctx, []string{first}, true); err != nil {
		t.Fatal(err)
	}
	holds(vault(s, first), "slack:T1", "")
}

// What is sealed for one name does not open under another, so that nobody who can write to the store swaps tokens.
func TestVaultBindsNames(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, Options{Dir: t.TempDir(), Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v, err := s.Vault(ctx, []string{strings.Repeat("a", 32)}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Put(ctx, "slack:T1", "one"); err != nil {
		t.Fatal(err)
	}
	entry, err := v.bucket.Get(ctx, stateKey("slack:T1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.bucket.Put(ctx, stateKey("slack:T2"), entry.Value()); err != nil {
		t.Fatal(err)
	}
	var got string
	if found, err := v.Get(ctx, "slack:T2", &got); found || !errors.Is(err, ErrWrongKey) {
		t.Errorf("%q, %v, %v", got, found, err)
	}
}
