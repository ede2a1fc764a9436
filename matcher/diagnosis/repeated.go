package diagnosis

import (
	"strings"
	"unicode"
)

// One failure is often told twice: in the title of a post and in the print below it, or by what caught an exception and by the traceback.

const (
	titleLines = 5  // the first lines of a source, in which the title of a post is
	leastTold  = 16 // bytes of a text that is known again
)

// toldInFullBy tells whether the words of this finding, in the title of a post, stand in another one below, with more around them.
func (f *finding) toldInFullBy(other *finding) bool {
	if f.onlyNames(other) {
		return true
	}
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

// onlyNames tells whether this finding is the name of an exception in a sentence, and the other one shows such an exception with its message.
func (f *finding) onlyNames(other *finding) bool {
	x, y := f.element.Exception, other.element.Exception
	return x != nil && y != nil && x.Lone() && x.Message == "" && y.Message != "" && x.Type == y.Type && f.First.Line.Source == other.First.Line.Source
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// announcedWithin is how many lines of others stand at most between what announces a traceback and its last line.
const announcedWithin = 300

// announces tells whether this line only says which exception was caught whose traceback the program prints next.
func (f *finding) announces(other *finding) bool {
	x, line := other.element.Exception, f.First.Line
	if f.element.Exception != nil || x == nil || len(x.Frames) == 0 || x.Type == "" || len(f.matches) > 0 && !f.role().LastResort() {
		return false
	}
	after := other.First.Line.Number - line.Number
	return after > 0 && after <= announcedWithin && line.Process() == other.First.Line.Process() &&
		strings.Contains(f.element.Text, x.Name()) && strings.Contains(f.element.Text, x.Message)
}
