package slackbot

import (
	"regexp"
	"strings"
)

func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
}

// fit cuts a text that is longer than a limit allows, closing the code block that it may cut open.
func fit(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	text = string(runes[:most-5])
	if i := strings.LastIndex(text, "&"); i > len(text)-5 && !strings.Contains(text[i:], ";") {
		text = text[:i]
	}
	text += "…"
	if strings.Count(text, "```")%2 == 1 {
		text += "```"
	}
	return text
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escape takes away the three characters by which mentions, links and dates are written.
func escape(text string) string { return escaper.Replace(text) }

// nothing is a zero-width space. It stands in prose alone, never in what somebody may copy.
const nothing = "\u200b"

var (
	// marked is a word with a character by which Slack formats: names as __init__, *args, ~/data.
	marked = regexp.MustCompile(`[\w.\-/\[\]=:*~]*[_*~][\w.\-/\[\]=:*~]*`)
	// unmoved is one in which it formats nothing: between letters, or alone.
	unmoved = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[\w.\-/\[\]=:]*[A-Za-z0-9\]])?|[*~_])$`)
	// called are the words that would call everybody.
	called = regexp.MustCompile(`@(here|channel|everyone)`)
)

// neutral makes a text with code between backticks into mrkdwn in which nothing else comes alive. Names stay such that they can be copied.
func neutral(text string) string {
	parts := strings.Split(text, "`")
	var out strings.Builder
	for i, part := range parts {
		if i%2 == 1 && i < len(parts)-1 && strings.TrimSpace(part) != "" {
			out.WriteString(code(part))
			continue
		}
		if i > 0 {
			out.WriteString(strings.Repeat("'", i%2)) // a backtick without a second one
		}
		out.WriteString(plain(part))
	}
	return out.String()
}

// plain is prose without code.
func plain(text string) string {
	text = called.ReplaceAllString(text, "@"+nothing+"$1")
	var out strings.Builder
	for {
		at := marked.FindStringIndex(text)
		if at == nil {
			out.WriteString(escape(text))
			return out.String()
		}
		out.WriteString(escape(text[:at[0]]))
		word := strings.TrimRight(text[at[0]:at[1]], ".:")
		if unmoved.MatchString(word) {
			out.WriteString(escape(word))
		} else {
			out.WriteString(code(word))
		}
		text = text[at[0]+len(word):]
	}
}

func neutralAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = neutral(text)
	}
	return out
}

func code(text string) string {
	return "`" + escape(strings.ReplaceAll(oneLine(text), "`", "'")) + "`"
}

// block quotes a text as code, in which Slack formats nothing: only what would end it is taken out. Escaping makes the text longer, so it is
// cut after it.
func block(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "```", "'''")
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = "\n" + text + "\n"
	}
	return "```" + fit(escape(text), maxSection-200) + "```"
}
