package site

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/catalogue"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/backend"
)

func small() Site {
	fix := report.Fix{Do: "Run `free` first."}
	fix.Add("sh", "free -g | grep '<Mem>'")
	return Site{
		Program: "1.2.3", Knowledge: "2026.11.23",
		Failures: []*catalogue.Page{{
			ID: "out-of-coffee", Family: "mine", Title: "The coffee ran out", Why: []string{"No <b>beans</b>."}, Fixes: []report.Fix{fix},
			Samples: []catalogue.Sample{{Log: "brewing\nerror: </script><script>alert(1)</script>", Shows: "error: </script><script>alert(1)</script>", Source: "own run"}},
			Apart:   []catalogue.Alike{{ID: "out-of-milk", Title: "The milk ran out"}}, Sources: []string{"https://example.org/coffee", "javascript:alert(1)"},
		}},
		Libraries: []catalogue.Library{{Name: "brew", Title: "Brew", Releases: []backend.Release{{Version: "1.0"}}, Rules: []backend.Rule{{ID: "brew-hot", Because: "It is hot.", Source: "brew.c@v1"}}}},
	}
}

func read(t *testing.T, folder, name string) string {
	content, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// loads matches whatever has a browser ask for something by itself.
var loads = regexp.MustCompile(`(?i)<(link|img|iframe|object|embed|form)\b|\ssrc=|@import|url\(|fetch\(`)

func TestWrite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "site")
	for range 2 { // a site is replaced
		if n, err := small().Write(folder); err != nil || n != 3 {
			t.Fatalf("%d pages were written: %v", n, err)
		}
	}
	pages := map[string][]string{
		"index.html":                  {`href="failures/out-of-coffee.html"`, `href="libraries/brew.html"`, `"n":"brew-hot"`, `alert(1)`},
		"failures/out-of-coffee.html": {"<mark>error: &lt;/script&gt;", "No &lt;b&gt;beans", "Run <code>free</code> first.", `href="out-of-milk.html"`, `href="https://example.org/coffee"`, "<code>javascript:alert(1)</code>", "knowledge 2026.11.23"},
		"libraries/brew.html":         {`id="brew-hot"`, "It is hot.", "The rules cover the releases 1.0 to 1.0."},
	}
	for name, wanted := range pages {
		page := read(t, folder, name)
		for _, want := range wanted {
			if !strings.Contains(page, want) {
				t.Errorf("%s has no %q:\n%s", name, want, page)
			}
		}
		if strings.Contains(page, "<script>alert") {
			t.Errorf("%s runs what a log says", name)
		}
		if found := loads.FindString(page); found != "" {
			t.Errorf("%s loads something: %s", name, found)
		}
	}
}

func TestFolderOfSomebodyElse(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := small().Write(folder); err == nil || !strings.Contains(err.Error(), "give a new one") {
		t.Errorf("a folder with other files is answered by %v", err)
	}
}

func TestIDOutsideOfTheFolder(t *testing.T) {
	s, parent := small(), t.TempDir()
	s.Failures[0].ID = "../../outside"
	if _, err := s.Write(filepath.Join(parent, "site")); err == nil {
		t.Error("a page was written outside of the folder")
	}
	if _, err := os.Stat(filepath.Join(parent, "outside.html")); err == nil {
		t.Error("there is a page outside of the folder")
	}
}
