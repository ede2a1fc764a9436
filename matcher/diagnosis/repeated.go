package diagnosis

import (
	"strings"
	"unicode"
)

const (
	titleLines = 5  // the first lines of a source, in which the title of a post is
	leastTold  = 16 // bytes of a text that is known again
)

// toldInFullBy tells whether the words of this finding, in the title of a post, stand in another one below, with more around them.
func (f *finding) toldInFullBy(other *finding) bool {
	title, body := f.First.Line, other.First.Line
	if title.Number > titleLines || body.Source != title.Source || body.Number <= title.Number || body.Rank != title.Rank {
		return false
	}
	words := strings.TrimSpace(f.element.Text)
	if _, message, raised := strings.Cut(words, "Error: "); raised { // the class may be left out there
		words = message
	}
	whole := strings.TrimRight(words, ".…")
	cut := len(words)-len(whole) >= len("...") // the title was too long
	if len(whole) < leastTold || len(other.element.Text) <= len(whole) {
		return false
	}
	_, after, found := strings.Cut(other.element.Text, whole)
	return found && (cut || strings.IndexFunc(after, isWord) != 0) // shard 12 is not shard 1
}

// saysMoreThan tells whether this finding, in a title, is the message of the other one, which has its traceback, with words behind it that the
// author added: when, and with what.
func (f *finding) saysMoreThan(other *finding) bool {
	x, y := f.element.Exception, other.element.Exception
	title, body := f.First.Line, other.First.Line
	if title.Number > titleLines || body.Source != title.Source || body.Number <= title.Number || x == nil || y == nil {
		return false
	}
	if len(x.Frames) > 0 || len(y.Frames) == 0 || x.Name() != y.Name() || len(y.Message) < leastTold {
		return false
	}
	added, ok := strings.CutPrefix(x.Message, y.Message)
	return ok && strings.HasPrefix(added, " ")
}

// onlyNames tells whether this finding is the name of an exception, as in a title or a sentence, and the other one shows such an exception
// with its message.
func (f *finding) onlyNames(other *finding) bool {
	x, y := f.element.Exception, other.element.Exception
	return x != nil && y != nil && x.Lone() && x.Message == "" && y.Message != "" && x.Type == y.Type && f.First.Line.Source == other.First.Line.Source
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
