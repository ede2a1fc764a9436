package repair

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gpu-triage/triage/matcher/logline"
)

// fold is how lines were folded. The zero value is that they were not.
type fold struct {
	width  int  // of the longest line, in characters
	words  bool // words were kept whole, where they fit into a line
	spaced bool // and so was the space before the word that did not fit
	prefix int  // bytes that stand before each line, also before the rest of a folded one
}

// Widths of what folds lines, in characters.
const (
	minWidth = 60
	maxWidth = 400
)

// foldOf tells how lines were folded, by what many of them have in common: none is longer, several are as long as the longest or end where
// the next word would not have fitted, and what follows does not look like the beginning of a line.
func foldOf(lines []string) fold {
	f := fold{prefix: commonPrefix(lines)}
	widths := make([]int, len(lines))
	for i, line := range lines {
		widths[i] = width(f.rest(line))
	}
	if f.findWords(lines) || f.findCut(lines, widths) {
		return f
	}
	return fold{}
}

// findCut finds the width at which lines were cut, in the middle of words perhaps: that of the longest, or one that few lines go over, as the
// sentences of a report do.
func (f *fold) findCut(lines []string, widths []int) bool {
	var as [maxWidth + 2]int // lines by width
	for _, w := range widths {
		as[min(w, maxWidth+1)]++
	}
	over := as[maxWidth+1]
	for w := maxWidth; w >= minWidth; w-- {
		if as[w] > 0 && as[w] >= 4*over {
			joints, sure := f.joints(lines, widths, w)
			if over == 0 && (joints > 1 && sure > 0 || sure == 1 && isUsual(w)) || sure > 0 && joints >= 4*max(over, 1) {
				f.width = w
				return true
			}
		}
		over += as[w]
	}
	return false
}

// joints counts the lines of a width that the next one may be the rest of, and those that it surely is the rest of.
func (f *fold) joints(lines []string, widths []int, w int) (joints, sure int) {
	for i := range lines[:max(0, len(lines)-1)] {
		if widths[i] != w || !f.mayGoOn(lines[i], lines[i], lines[i+1]) {
			continue
		}
		joints++
		if isTorn(f.rest(lines[i]), f.rest(lines[i+1])) {
			sure++
		}
	}
	return joints, sure
}

// findWords finds the width at which lines were folded between words. Such a line ends with the space before the word that did not fit, or
// that space was dropped.
func (f *fold) findWords(lines []string) bool {
	longest, full := 0, []int{} // the numbers of lines that may be folded
	for _, line := range lines {
		if w := width(strings.TrimRight(f.rest(line), " ")); w > longest {
			longest = w
		}
		if longest > maxWidth {
			return false
		}
	}
	if longest < minWidth {
		return false
	}
	for i, line := range lines[:max(0, len(lines)-1)] {
		if width(f.rest(line)) >= longest-maxMargin {
			full = append(full, i)
		}
	}
	for w := longest; w <= longest+maxMargin; w++ {
		try := fold{width: w, words: true, prefix: f.prefix}
		if (w == longest || isUsual(w)) && try.explains(lines, full) {
			*f = try
			return true
		}
	}
	return false
}

// maxMargin is how much a line may end before the width because a word did not fit.
const maxMargin = 24

// explains tells whether many of the lines that are about as long end where the next word would not have fitted: all with the space before it,
// or all without.
func (f *fold) explains(lines []string, long []int) bool {
	spaced, bare, full := 0, 0, 0
	for _, i := range long {
		line := lines[i]
		w := width(f.rest(line))
		if w < f.width-maxMargin {
			continue
		}
		full++
		_, ok := f.join(line, line, lines[i+1])
		switch {
		case !ok || w == f.width: // cut lines are as long
		case strings.HasSuffix(line, " "):
			spaced++
		default:
			bare++
		}
	}
	f.spaced = spaced > 0
	const many = 3
	switch {
	case bare == 0:
		return spaced > 1 || spaced > 0 && isUsual(f.width)
	case spaced == 0:
		return isUsual(f.width) && bare > many && 4*bare >= 3*full
	}
	return false
}

// isTorn tells whether two lines are one that was cut, by what stands at the cut: in a word or a path, or before or behind a single space.
func isTorn(last, next string) bool {
	end, begin := last[len(last)-1], next[0]
	switch {
	case begin == ' ' || end == ' ':
		return true
	case !isWord(end) && strings.IndexByte("/_-=([{<,", end) < 0:
		return false
	}
	return isWord(begin) && (begin < 'A' || begin > 'Z') || strings.IndexByte("/_.-=)]}>,':;(", begin) >= 0
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// isUsual tells whether a width is one that terminals, mails and libraries have.
func isUsual(width int) bool {
	return width == 72 || width == 79 || width == 132 || width >= 80 && width <= 250 && width%10 == 0
}

// join adds a line to those that were joined so far if it goes on with them. Last is the last of those, as it is in the source.
func (f *fold) join(joined, last, next string) (whole string, ok bool) {
	if f.width == 0 || next == "" {
		return "", false
	}
	tail, rest := f.rest(last), f.rest(next)
	between, fits := "", false
	if f.words {
		between, fits = f.between(tail, rest)
	} else {
		fits = width(tail) == f.width
	}
	if !fits || !f.mayGoOn(joined, last, next) {
		return "", false
	}
	return joined + between + rest, true
}

// between is what stood between two lines where words were kept whole: nothing, or the space that was dropped. It is not ok when the first word of
// the next line would have fitted into the last.
func (f *fold) between(last, next string) (space string, ok bool) {
	words := strings.TrimRight(last, " ")
	w := width(words)
	switch {
	case next == "", w > f.width, next[0] == ' ' && w < f.width, w+1+firstWord(next) <= f.width:
		return "", false
	case len(words) < len(last), next[0] == ' ', strings.HasSuffix(last, "-"), w == f.width && f.spaced:
		return "", true
	case w == f.width && width(last[strings.LastIndexByte(last, ' ')+1:])+firstWord(next) > f.width: // a word that is too long
		return "", true
	}
	return " ", true
}

// rest is a line without what stands before each.
func (f *fold) rest(line string) string { return line[min(f.prefix, len(line)):] }

// firstWord is the width of what can stand alone at the end of a line: up to a space or behind a hyphen.
func firstWord(text string) int {
	if i := strings.IndexAny(text, " -"); i >= 0 {
		if text[i] == '-' {
			i++
		}
		text = text[:i]
	}
	return width(text)
}

// width is how many characters a text takes on a screen: without colour codes.
func width(text string) int {
	n := utf8.RuneCountInString(text)
	for {
		i := strings.Index(text, "\x1b[")
		if i < 0 {
			return n
		}
		text = text[i:]
		end := strings.IndexFunc(text[2:], func(c rune) bool { return c >= '@' && c <= '~' })
		if end < 0 {
			return n - utf8.RuneCountInString(text)
		}
		n -= 2 + end + 1
		text = text[2+end+1:]
	}
}

// mayGoOn tells whether next can be the rest of a line by what it is, and not the beginning of one. Joined is what is known of that line, and
// last the last piece of it.
func (f *fold) mayGoOn(joined, last, next string) bool {
	joined, last, next = f.rest(joined), f.rest(last), f.rest(next)
	switch {
	case next == "" || last == "":
		return false
	case strings.HasPrefix(next, "  ") || next[0] == '\t':
		return false
	case isRuled(last), isRuled(next), isRow(last) && isRow(next), strings.Contains(last, leader):
		return false
	case beginsAlike(joined, next):
		return false
	}
	return !beginning.MatchString(next)
}

// beginning is how lines begin that are no rest of another.
var beginning = regexp.MustCompile(`^(?:` +
	strings.ReplaceAll(regexp.QuoteMeta(logline.TracebackHeader), " ", `\s`) +
	`|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)(?::\s|$)` +
	`|[\[(]?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:` +
	`|[\w.-]+:\d+:\d+ \[|\[(?:rank\d|default\d|DEBUG|INFO|WARN|ERROR)|\[[^\]\s]{1,40}\][<:]|[DIWEF]\d{4} \d\d:` +
	`|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b` +
	`|[\w./+-]+\.\w{1,4}(?::\d+){1,2}: \S` + // a place in a source file, as compilers print it
	`|(?:sudo|bash|sh|zsh|srun|slurmstepd|docker|make(?:\[\d+\])?): ` + // programs that say who they are
	`|(?:/[\w.+-]+){2,}: [A-Za-z]` + // a program by its path
	`|[\w./-]+: (?:error|fatal|warning|note)\b|\w+ error\b|[^|]{0,60}\d%\|` +
	`|(?:[Bb]ut|[Aa]nd|[Ss]o) (?:if|when) I\b` + // a person goes on below what was printed
	`|During handling of|The above exception was|E   |>   |` + "```|~~~" + `|[│╭╰├❱]|#+ ` +
	`)`)

// isRuled tells whether a line is drawn rather than written: a ruler, or the row of a table with its border.
func isRuled(line string) bool {
	line = strings.TrimRight(line, " ")
	if line == "" {
		return false
	}
	last, size := utf8.DecodeLastRuneInString(line)
	switch last {
	case '│', '╮', '╯', '┃', '┓', '┐', '┘', '┤', '─', '━', '|', '+':
		return true
	}
	const ruler = 8 // the same character so often
	return strings.HasSuffix(line, strings.Repeat(line[len(line)-size:], ruler))
}

// leader leads the eye from a name to its result, at the end of the line.
const leader = "........"

// isRow tells whether a line looks like the row of a table.
func isRow(line string) bool {
	const columns = 3 // that are wider than what stands in them
	return strings.Count(strings.TrimLeft(line, " "), "   ") >= columns
}

const alike = 5 // bytes with which the lines of a list begin alike

// beginsAlike tells whether two lines begin as those of one list do, or with the same prefix: alike but for numbers.
func beginsAlike(a, b string) bool {
	if len(a) < alike || len(b) < alike {
		return a != "" && b != "" && strings.IndexByte("|+-*", a[0]) >= 0 && a[0] == b[0]
	}
	return sameShape(a, b, alike) == alike
}

// sameShape is how many bytes, at most so many, two texts begin with that differ in digits only.
func sameShape(a, b string, most int) int {
	most = min(most, len(a), len(b))
	for i := range most {
		if a[i] != b[i] && !(isDigit(a[i]) && isDigit(b[i])) {
			return i
		}
	}
	return most
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// commonPrefix is how many bytes each line begins with alike that is not empty: what one collector puts before each.
func commonPrefix(lines []string) int {
	const few = 4
	prefix, count := "", 0
	for _, line := range lines {
		if strings.TrimSpace(line) == "" || count > 0 && strings.HasPrefix(prefix, line) { // the prefix of an empty line lacks the space at its end
			continue
		}
		if count == 0 {
			prefix = line
		}
		prefix = prefix[:commonStart(prefix, line)]
		count++
	}
	if count < few {
		return 0
	}
	return strings.LastIndexAny(prefix, " \t:>|]") + 1 // no part of a word
}
