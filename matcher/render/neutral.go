package render

import (
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
)

// nothing is a zero-width space: it keeps @name, #1 and web addresses from being found by those who look for them in a page or in
// the mail made of it, where escapes and entities are resolved already.
const nothing = "\u200b"

// The forms that GitHub and mail programs bring to life in plain text.
var (
	mention   = regexp.MustCompile(`(^|[^A-Za-z0-9])@([A-Za-z0-9])`)
	anyAt     = regexp.MustCompile(`@([A-Za-z0-9])`)
	number    = regexp.MustCompile(`#([0-9])`)
	shortRef  = regexp.MustCompile(`(?i)\b(GH-)([0-9])`)
	scheme    = regexp.MustCompile(`(?i)([a-z]):(//)`)
	wwwOrMail = regexp.MustCompile(`(?i)(www|mailto|xmpp)([.:])`)
	commit    = regexp.MustCompile(`(?i)\b[0-9a-f]{7,}\b`)
	sixHex    = regexp.MustCompile(`(?i)[0-9a-f]{6}`)
)

// markup makes every character with a meaning to Markdown, HTML or GitHub's formulas stand for itself, in a table as well.
var markup = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `[`, `\[`, `]`, `\]`, `~`, `\~`, `#`, `\#`,
	`&`, `&amp;`, `<`, `&lt;`, `>`, `&gt;`, `$`, `&#36;`, `|`, `&#124;`)

// opening is what makes a list, a rule or a heading of a line that starts with it.
var opening = regexp.MustCompile(`^\s*([-+=]|\d+[.)])`)

// Inline returns text as one line of Markdown's prose in which only code between single backticks keeps its meaning.
func Inline(text string) string { return inline(Line(text)) }

// inline returns one line of prose in which only code between single backticks keeps its meaning.
func inline(text string) string { return spans(text, code) }

// cell is inline for a cell of a table, where a bar would part cells even inside a code span.
func cell(text string) string { return spans(text, codeCell) }

func spans(text string, code func(string) string) string {
	var out strings.Builder
	if opening.MatchString(text) {
		out.WriteString(nothing)
	}
	for {
		before, rest, found := strings.Cut(text, "`")
		inside, after, closed := strings.Cut(rest, "`")
		if !found || !closed || strings.TrimSpace(inside) == "" {
			out.WriteString(prose(text))
			return out.String()
		}
		out.WriteString(prose(before))
		out.WriteString(code(inside))
		text = after
	}
}

func prose(text string) string {
	text = anyAt.ReplaceAllString(text, "@"+nothing+"$1")
	text = number.ReplaceAllString(text, "#"+nothing+"$1")
	text = shortRef.ReplaceAllString(text, "$1"+nothing+"$2")
	text = scheme.ReplaceAllString(text, "$1:"+nothing+"$2")
	text = wwwOrMail.ReplaceAllString(text, "$1"+nothing+"$2")
	text = commit.ReplaceAllStringFunc(text, func(s string) string {
		if len(s) < 40 && (strings.Trim(s, "0123456789") == "" || !strings.ContainsAny(s, "0123456789")) {
			return s // a number or a word
		}
		return sixHex.ReplaceAllString(s, "$0"+nothing)
	})
	return markup.Replace(text)
}

// code returns text as a code span, with as many backticks around it as it needs.
func code(text string) string {
	text = defused(Line(text))
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// codeCell returns text as code for a cell of a table.
func codeCell(text string) string {
	text = Line(text)
	if text == "" {
		return ""
	}
	return "<code>" + prose(text) + "</code>"
}

// commands returns a block of shell commands.
func commands(text string, limit int) string {
	return fence("sh", cut(strings.TrimSpace(text), limit))
}

// toCopy returns the commands of a fix, each kind in a block of its own; words for a person are no block.
func toCopy(f report.Fix, limit int) []string {
	var blocks []string
	for _, c := range f.Commands() {
		switch text := cut(strings.TrimSpace(strings.Join(c.Run, "\n")), limit); c.Kind {
		case "text":
			blocks = append(blocks, inline(text))
		case "python":
			blocks = append(blocks, fence("python", text))
		case "config", "flag":
			blocks = append(blocks, fence("", text))
		default:
			blocks = append(blocks, fence("sh", text))
		}
	}
	return blocks
}

// fence returns text as a fenced block whose fence is longer than any run of backticks in it; nothing for no text.
func fence(language, text string) string {
	text = defused(strings.TrimRight(clean(text), "\n"))
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", max(3, longestRun(text)+1))
	return ticks + language + "\n" + text + "\n" + ticks
}

// defused breaks the mentions in quoted text. Code mentions nobody by itself, but the mail that someone answers a comment with
// quotes it as plain text. An address or a pinned version (name@host, repository@v1) is no mention and stays as it is.
func defused(text string) string { return mention.ReplaceAllString(text, "$1@"+nothing+"$2") }

func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] == '`' {
			run++
		} else {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
