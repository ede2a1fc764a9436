package render

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/matcher/diagnosis"
	"github.com/gpu-triage/triage/matcher/report"
)

// The parts of a page. Everything in its style is below the class triage, so that a part of a page can stand in another one.
//
//go:embed html
var pageFiles embed.FS

var (
	// Stylesheet is the style of every page, of the class triage.
	Stylesheet = pageFile("page.css")
	// CopyScript makes the buttons of commands copy them.
	CopyScript = pageFile("page.js")
)

func pageFile(name string) string {
	text, err := pageFiles.ReadFile("html/" + name)
	if err != nil {
		panic(err) // it is in the program
	}
	return string(text)
}

// How much of something long a page gets; the JSON form has all of it.
const (
	pageDiagnoses = 50
	pageLines     = 200    // of the evidence of one diagnosis
	pageLine      = 20_000 // characters of a line or a paragraph
)

// HTML returns r as one page that needs nothing else: its policy forbids every request, and every script but its own.
func HTML(r *report.Report) ([]byte, error) {
	title := silence(r)
	if len(r.Diagnoses) > 0 {
		title = Line(r.Diagnoses[0].Title)
	}
	return written("page", r, title)
}

// HTMLFragment returns r as an element for a page that is there already, such as a notebook's. It has no script, and so no copying.
func HTMLFragment(r *report.Report) ([]byte, error) { return written("fragment", r, "") }

// PagePolicy is the Content-Security-Policy of what HTML returns.
func PagePolicy() string {
	return "default-src 'none'; style-src " + InlineHash(Stylesheet) + "; script-src " + InlineHash(CopyScript) + "; base-uri 'none'; form-action 'none'"
}

// InlineHash names an inline style or script, for a Content-Security-Policy that forbids every other one.
func InlineHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// BackendsHTML returns a choice as a page like that of a report.
func BackendsHTML(c diagnosis.Choice) ([]byte, error) {
	return written("page", c, Line(strings.TrimSpace(c.Library+" "+c.Release)+": "+outcomeOf(c)))
}

// written is a page or a part of one about a report or a choice.
func written(part string, about any, title string) ([]byte, error) {
	var out bytes.Buffer
	_, isChoice := about.(diagnosis.Choice)
	err := pageTemplate().ExecuteTemplate(&out, part, struct {
		Title, Policy string
		Style, Script template.HTML // ours
		About         any
		IsChoice      bool
	}{title, PagePolicy(), template.HTML("<style>" + Stylesheet + "</style>"), template.HTML("<script>" + CopyScript + "</script>"), about, isChoice})
	return out.Bytes(), err
}

// pageTemplate is parsed for the first page, for most calls show none.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"line": Line, "clean": clean, "value": Value, "origin": origin, "spread": spread, "outcome": Outcome, "silence": silence,
		"remarks": remarks, "earlier": Earlier, "made": made, "complaint": Complaint, "ranks": rankList, "quotes": quoteGroups, "spans": codeSpans, "link": webAddress,
		"rankRows": rankRows, "rankPicture": pictureOf,
		"next":     func() string { return unexplained },
		"draft":    func() string { return draft },
		"first":    func(i int, d report.Diagnosis) firstOrNot { return firstOrNot{i == 0, d} },
		"shown":    func(r *report.Report) []report.Diagnosis { return r.Diagnoses[:min(len(r.Diagnoses), pageDiagnoses)] },
		"commands": func(f report.Fix) []report.Commands { return f.Commands() },
		"joined":   func(run []string) string { return strings.TrimSpace(clean(strings.Join(run, "\n"))) },
		"paragraphs": func(text string) []string {
			return strings.Split(strings.TrimSpace(clean(cut(text, pageLine))), "\n\n")
		},
	}).ParseFS(pageFiles, "html/*.tmpl"))
})

// firstOrNot is a diagnosis, and whether it is the root cause.
type firstOrNot struct {
	First     bool
	Diagnosis report.Diagnosis
}

// quoteGroup are quotes of one rank in one file, in the order of its lines.
type quoteGroup struct {
	Place string
	Lines []quoteLine
}

type quoteLine struct {
	Number   string
	Text     string
	Deciding bool
	Gap      int // lines between the one before and this one that are not quoted
}

// quoteGroups orders quotes by file, rank and line; the group of the first, which decides, comes first.
func quoteGroups(quotes []report.Evidence) []quoteGroup {
	quotes = quotes[:min(len(quotes), pageLines)]
	var groups []quoteGroup
	var of []report.Evidence // the first of each group
	lines := make(map[int][]report.Evidence)
	for _, e := range quotes {
		i := slices.IndexFunc(of, func(known report.Evidence) bool { return samePlace(known, e) })
		if i < 0 {
			i = len(of)
			of = append(of, e)
			where := e
			where.Line = 0
			groups = append(groups, quoteGroup{Place: place(where)})
		}
		lines[i] = append(lines[i], e)
	}
	for i := range groups {
		deciding := lines[i][0]
		slices.SortStableFunc(lines[i], func(a, b report.Evidence) int { return cmp.Compare(a.Line, b.Line) })
		for j, e := range lines[i] {
			one := quoteLine{Text: strings.TrimRight(clean(cut(e.Text, pageLine)), "\n\t "), Deciding: i == 0 && e == deciding}
			if e.Line > 0 {
				one.Number = strconv.Itoa(e.Line)
			}
			if j > 0 {
				one.Gap = max(0, e.Line-lines[i][j-1].Line-1)
			}
			groups[i].Lines = append(groups[i].Lines, one)
		}
	}
	return groups
}

// span is a part of a sentence; what stood between backticks is code.
type span struct {
	Text string
	Code bool
}

func codeSpans(text string) []span {
	text = Line(cut(text, pageLine))
	var all []span
	for {
		before, rest, found := strings.Cut(text, "`")
		inside, after, closed := strings.Cut(rest, "`")
		if !found || !closed || strings.TrimSpace(inside) == "" {
			return append(all, span{Text: text})
		}
		all = append(all, span{Text: before}, span{Text: inside, Code: true})
		text = after
	}
}

// webAddress is text when it is one that a page may link, else "".
func webAddress(text string) string {
	text = Line(text)
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" || !strings.Contains(address.Host, ".") || address.User != nil || strings.ContainsAny(text, " <>`\"'\\") {
		return ""
	}
	return text
}
