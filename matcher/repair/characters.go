package repair

import (
	"bytes"
	"html"
	"regexp"
	"strings"
)

// entity is a character as HTML and Slack write it, with its semicolon: without one, it may be a parameter of an address.
var entity = regexp.MustCompile(`&(?:quot|apos|lt|gt|amp|nbsp|#\d{2,5}|#[xX][0-9a-fA-F]{2,4});`)

// signsOfHTML are the entities that tell that a source was written for a web page or a chat. One for & alone stands in addresses, too.
var signsOfHTML = [][]byte{[]byte("&quot;"), []byte("&#x27;"), []byte("&#39;"), []byte("&#34;"), []byte("&lt;"), []byte("&gt;"), []byte("&apos;"), []byte("&nbsp;")}

func hasEntities(text []byte) bool {
	if bytes.IndexByte(text, '&') < 0 {
		return false
	}
	return containsAny(text, signsOfHTML)
}

func containsAny(text []byte, signs [][]byte) bool {
	for _, sign := range signs {
		if bytes.Contains(text, sign) {
			return true
		}
	}
	return false
}

// maxEscaped is how often a page that quotes another one escapes the same character.
const maxEscaped = 2

// withoutEntities puts characters in the place of entities.
func withoutEntities(line string) string {
	for range maxEscaped {
		if !strings.Contains(line, ";") || !strings.Contains(line, "&") {
			return line
		}
		line = entity.ReplaceAllStringFunc(line, func(written string) string {
			character := html.UnescapeString(written)
			if character < " " { // a line break in a line would be another line
				return " "
			}
			return character
		})
	}
	return line
}

// plain puts what a keyboard has in the place of what typesetters make of it.
var plain = strings.NewReplacer(
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "′", "'",
	"“", `"`, "”", `"`, "„", `"`, "‟", `"`, "″", `"`,
	"‐", "-", "‑", "-", "–", "-", "−", "-", "—", "--",
	"\u00a0", " ", "\u2007", " ", "\u202f", " ", "\u2009", " ", "\u2002", " ", "\u2003", " ",
	"\u200b", "", "\u2060", "", "\ufeff", "",
)

// signsOfTypesetting are the characters that tell that a text went through a word processor, a chat or a web page.
var signsOfTypesetting = [][]byte{[]byte("‘"), []byte("’"), []byte("“"), []byte("”"), []byte("„"), []byte("\u00a0"), []byte("\u202f"), []byte("\u200b")}

func isTypeset(text []byte) bool { return containsAny(text, signsOfTypesetting) }

// initCall is a call of __init__ that a message complains about, as a page shows it that takes two underscores for bold letters.
var initCall = regexp.MustCompile(`((?:^|[\s.]))(?:\*\*)?init(?:\*\*)?\(\)( (?:got an unexpected|got multiple|missing \d|takes ))`)

// signsOfUnmarked stand in what initCall finds.
var signsOfUnmarked = [][]byte{[]byte("init() "), []byte("init**() ")}

func isUnmarked(text []byte) bool { return containsAny(text, signsOfUnmarked) && initCall.Match(text) }

// escape is a character of a print that an editor of Markdown kept from being a mark, and the line break that it kept.
var escape = regexp.MustCompile(`\\([\\<>*_#()\[\]` + "`" + `-])|\\$`)

// signsOfEscapes stand in the frames of a traceback that such an editor took in: `in \<module\>`, `in \_call_impl`.
var signsOfEscapes = [][]byte{[]byte(`in \<module\>`), []byte(`in \_`)}

func isEscaped(text []byte) bool { return containsAny(text, signsOfEscapes) }
