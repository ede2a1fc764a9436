package main

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"
)

// The name of a file in an archive is a stranger's text: it reaches the terminal without its control sequences.
func TestErrorsObeyNoArchive(t *testing.T) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	content := "BZh9 no log"
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a\x1b[2J\x1b]0;b\x07.log", Size: int64(len(content)), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	status := run(t.Context(), nil, streams{in: &packed, out: &out, err: &errs, env: func(string) string { return "" }})
	if status != exitWrong || strings.ContainsAny(errs.String(), "\x1b\x07") || !strings.Contains(errs.String(), "bzip2 is not read") {
		t.Errorf("status %d: %q", status, errs.String())
	}
}
