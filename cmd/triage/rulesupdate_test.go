package main

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
)

// said runs the program and returns its exit status with all that it printed.
func said(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	status := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &out, env: os.Getenv})
	return status, out.String()
}

// repacked is a bundle of the repository's rules with another knowledge.yaml, its address on a server, and a file with its public key.
func repacked(t *testing.T, knowledge string) (address, key string) {
	t.Helper()
	folder := t.TempDir()
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]interface{ MarshalText() ([]byte, error) }{"key": private, "key.pub": public} {
		content, err := text.MarshalText()
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(folder, "rules")
	if err := os.CopyFS(copied, os.DirFS("../../rules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied, "knowledge.yaml"), []byte(knowledge), 0o600); err != nil {
		t.Fatal(err)
	}
	status, text := said(t, "rules", "pack", copied, filepath.Join(folder, "knowledge.zip"), "--key", filepath.Join(folder, "key"))
	if status != 0 {
		t.Fatal(text)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	return server.URL + "/knowledge.zip", filepath.Join(folder, "key.pub")
}

func TestRulesUpdate(t *testing.T) {
	if testing.Short() {
		t.Skip("bundles are tested in their package")
	}
	home := t.TempDir()
	t.Setenv("XDG_DATA_HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	address, key := repacked(t, "version: 2090.01.01\nformat: 1\n")
	for _, step := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"rules", "update", address}, exitWrong, "the signature does not fit"},
		{[]string{"rules", "update", address + ".no", "--key", key}, exitWrong, "404"},
		{[]string{"version"}, 0, "knowledge 20"},
		{[]string{"rules", "update", address, "--key", key}, 0, "The knowledge of 2090.01.01 is in use"},
		{[]string{"rules", "update", address, "--key", key}, 0, "Nothing is changed"},
		{[]string{"version"}, 0, "knowledge 2090.01.01,"},
		{[]string{"rules", "list"}, 0, "cuda-oom"},
		{[]string{"rules", "show", "cuda-oom"}, 0, "id: cuda-oom"},
		{[]string{"rules", "update", "--roll-back"}, 0, "The knowledge of 2090.01.01 is removed"},
		{[]string{"rules", "update", "--roll-back"}, 0, "no update to go back from"},
	} {
		status, text := said(t, step.args...)
		if status != step.status || !strings.Contains(text, step.want) {
			t.Errorf("triage %s: %d, %s", strings.Join(step.args, " "), status, text)
		}
		if strings.Contains(text, "2090") && step.args[0] == "version" {
			if _, shipped := said(t, "version", "--no-update"); strings.Contains(shipped, "2090") {
				t.Errorf("--no-update: %s", shipped)
			}
		}
	}
}

// TestOwnRulesEverywhere: a team's rules are found in the user's folder and where TRIAGE_RULES says.
func TestOwnRulesEverywhere(t *testing.T) {
	const rule = `id: %
title: Ours
keywords: [frobnicator burned]
match: [text contains "frobnicator burned"]
cause: It burned.
fixes: [{do: Call the fire brigade.}]
references: [https://example.org]
`
	home, team := t.TempDir(), t.TempDir()
	t.Setenv("XDG_DATA_HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	for folder, id := range map[string]string{filepath.Join(home, "triage", "rules"): "ours-at-home", team: "ours-in-the-team"} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, id+".yaml"), []byte(strings.Replace(rule, "%", id, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, text := said(t, "rules", "list"); !strings.Contains(text, "ours-at-home") || strings.Contains(text, "ours-in-the-team") {
		t.Error("of the user's rules alone, those in the user's folder are used")
	}
	t.Setenv("TRIAGE_RULES", team)
	if _, text := said(t, "rules", "list"); !strings.Contains(text, "ours-at-home") || !strings.Contains(text, "ours-in-the-team") {
		t.Error("TRIAGE_RULES is not used")
	}
	if _, text := said(t, "version"); !strings.Contains(text, "+own") {
		t.Errorf("the version does not tell: %s", text)
	}
	t.Setenv("TRIAGE_RULES", filepath.Join(team, "nowhere"))
	if status, text := said(t, "rules", "list"); status != exitWrong || !strings.Contains(text, "nowhere") {
		t.Errorf("a folder that is missing: %d, %s", status, text)
	}
}
