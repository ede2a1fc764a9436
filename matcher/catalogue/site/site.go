// Package site writes the catalogue of known failures as a static site: a page for each failure and each library, and one that lists and
// searches them. Each page stands for itself: it works from a folder, without a server, and loads nothing from anywhere.
package site

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/catalogue"
	"github.com/gpu-triage/triage/matcher/render"
)

//go:embed pages
var pages embed.FS

// Site is what is written.
type Site struct {
	Program   string // the version of triage
	Knowledge string // the version of the rules
	Failures  []*catalogue.Page
	Libraries []catalogue.Library
}

// The folders of a site.
const (
	failures  = "failures"
	libraries = "libraries"
)

// generator stands in each page, and tells a site that may be written again from a folder of somebody's own.
const generator = `<meta name="generator" content="triage docs">`

// Write writes the site into a folder, which it makes. A folder that has something else in it is refused; a site that was written before is
// replaced. It returns how many pages there are.
func (s Site) Write(folder string) (written int, err error) {
	if err := Usable(folder); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := clear(root); err != nil {
		return 0, err
	}
	for _, name := range []string{failures, libraries} {
		if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return 0, err
		}
	}
	w := writer{root: root, site: s}
	if err := w.parse(); err != nil {
		return 0, err
	}
	if err := w.all(); err != nil {
		return 0, err
	}
	return w.written, nil
}

// Usable tells whether a site may be written into a folder: it is not there yet, is empty, or has a site that was written before.
func Usable(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	index, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil || !bytes.Contains(index, []byte(generator)) {
		return fmt.Errorf("%s: the folder has files in it that triage docs did not write; give a new one", folder)
	}
	return nil
}

// clear takes the pages of an earlier site away.
func clear(root *os.Root) error {
	for _, folder := range []string{failures, libraries} {
		old, err := fs.Glob(root.FS(), folder+"/*.html")
		if err != nil {
			return err
		}
		for _, name := range old {
			if err := root.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// writer writes pages below a folder, and nothing outside of it, whatever an id is.
type writer struct {
	root                    *os.Root
	site                    Site
	failure, library, index *template.Template
	written                 int
}

// sheet is what every page needs beside its own subject.
type sheet struct {
	Site
	Title   string
	Top     string // from the page to the folder of the site
	Subject any
}

// parse reads the forms of the pages.
func (w *writer) parse() (err error) {
	for _, f := range []struct {
		form **template.Template
		name string
	}{{&w.failure, "failure.html"}, {&w.library, "library.html"}, {&w.index, "index.html"}} {
		*f.form, err = template.New("layout.html").Funcs(functions).ParseFS(pages, "pages/layout.html", "pages/"+f.name)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) all() error {
	for _, p := range w.site.Failures {
		if err := w.page(w.failure, path.Join(failures, p.ID+".html"), sheet{w.site, p.Title, "../", p}); err != nil {
			return err
		}
	}
	for _, l := range w.site.Libraries {
		if err := w.page(w.library, path.Join(libraries, l.Name+".html"), sheet{w.site, "Backends of " + l.Title, "../", l}); err != nil {
			return err
		}
	}
	return w.page(w.index, "index.html", sheet{w.site, "Known failures", "", indexOf(w.site)})
}

// page writes one page.
func (w *writer) page(form *template.Template, name string, subject sheet) error {
	var out bytes.Buffer
	if err := form.Execute(&out, subject); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	w.written++
	return w.root.WriteFile(name, out.Bytes(), 0o644)
}

var functions = template.FuncMap{
	"spans": spans,
	"url": func(text string) bool {
		return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
	},
	"lines": func(commands []string) string { return strings.Join(commands, "\n") },
	"rows":  rows,
	"meta":  func() template.HTML { return generator },
	"style": func() template.CSS { return template.CSS(render.Stylesheet + asset("style.css")) },
	"copy":  func() template.JS { return template.JS(render.CopyScript) },
	"find":  func() template.JS { return template.JS(asset("search.js")) },
}

// asset is a file that stands in the pages.
func asset(name string) string {
	content, err := pages.ReadFile("pages/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return string(content)
}

// span is a piece of prose; what stands between backticks is code.
type span struct {
	Text string
	Code bool
}

func spans(text string) []span {
	var all []span
	for i, piece := range strings.Split(text, "`") {
		all = append(all, span{Text: piece, Code: i%2 == 1})
	}
	if len(all)%2 == 0 { // the last backtick begins nothing
		return []span{{Text: text}}
	}
	return all
}

// row is a line of a sample.
type row struct {
	Text  string
	Shows bool // the failure
}

func rows(sample catalogue.Sample) []row {
	var all []row
	for line := range strings.SplitSeq(sample.Log, "\n") {
		all = append(all, row{line, strings.TrimSpace(line) == sample.Shows})
	}
	return all
}

// index is what the first page lists, and what it searches.
type index struct {
	Families []family
	Search   []entry
}

type family struct {
	Name  string
	Pages []*catalogue.Page
}

// entry is one thing that can be found.
type entry struct {
	Page  string   `json:"p"`
	Title string   `json:"t"`
	Name  string   `json:"n"`
	Words []string `json:"w"` // what logs say
}

func indexOf(s Site) index {
	var all index
	for _, p := range s.Failures {
		i := slices.IndexFunc(all.Families, func(f family) bool { return f.Name == p.Family })
		if i < 0 {
			i, all.Families = len(all.Families), append(all.Families, family{Name: p.Family})
		}
		all.Families[i].Pages = append(all.Families[i].Pages, p)
		found := entry{Page: failures + "/" + p.ID + ".html", Title: p.Title, Name: p.ID, Words: append([]string{}, p.Words...)}
		for _, sample := range p.Samples {
			found.Words = append(found.Words, cut(sample.Shows))
		}
		all.Search = append(all.Search, found)
	}
	for _, l := range s.Libraries {
		for _, r := range l.Rules {
			all.Search = append(all.Search, entry{Page: libraries + "/" + l.Name + ".html#" + r.ID, Title: r.Because, Name: r.ID, Words: []string{r.Message, l.Title}})
		}
	}
	slices.SortFunc(all.Families, func(a, b family) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// longest is how much of a line of a log can be searched, in bytes.
const longest = 300

func cut(text string) string {
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "")
	}
	return text
}
