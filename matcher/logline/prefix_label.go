package logline

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// labels tells whether the lines of a source carry a label that would be ordinary text if only one line had it: the task number
// of srun --label ("3: "), or the host that pdsh puts before each line ("worker-1: ").
type labels struct {
	any     bool
	numbers bool // the labels are numbers
	ranks   bool // and these are global ranks, not the numbers of nodes on which a launcher starts several
}

const (
	minLabelled = 8 // fewer lines prove nothing
	maxLabelLen = 64
)

// labelsOf looks at the first lines of a source. Labels are believed when most lines have one and they repeat: an enumeration
// counts up, an srun of many tasks comes back to each of them. A traceback behind a number proves it at once.
func labelsOf(head []byte, clean func([]byte) string) labels {
	var numbers, hosts census
	lines := 0
	for len(head) > 0 && lines < 2000 {
		raw, rest, _ := bytes.Cut(head, []byte{'\n'})
		head = rest
		line := clean(raw[:min(len(raw), 512)])
		if line == "" {
			continue
		}
		lines++
		label, n := labelIn(line)
		if n == 0 {
			continue
		}
		if isNumber(label) {
			numbers.count(label, line[n:])
		} else {
			hosts.count(label, line[n:])
		}
	}
	switch {
	case numbers.proof, numbers.lines >= minLabelled && 2*numbers.lines >= lines && numbers.repeat():
		return labels{any: true, numbers: true, ranks: !numbers.nodes}
	case hosts.lines >= minLabelled && 10*hosts.lines >= 9*lines && hosts.repeat():
		return labels{any: true}
	}
	return labels{}
}

// census counts labels.
type census struct {
	lines int
	seen  map[string]int
	proof bool
	nodes bool // a line names another rank than its label, or a rank in its node
}

func (c *census) count(label, rest string) {
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.lines++
	c.seen[label]++
	c.proof = c.proof || strings.HasPrefix(rest, TracebackHeader)
	if strings.HasPrefix(rest, "[") {
		p := prefixes{rank: NoRank, local: NoRank, rest: rest}
		p.strip()
		c.nodes = c.nodes || p.local != NoRank || p.rank != NoRank && p.rank != Atoi(label)
	}
}

func (c *census) repeat() bool { return 2*len(c.seen) <= c.lines }

// label gives the label of a line of a source that has labels, and its length with all that separates it from the text.
func (l labels) label(line string) (label string, n int, ok bool) {
	if !l.any {
		return "", 0, false
	}
	label, n = labelIn(line)
	return label, n, n > 0 && isNumber(label) == l.numbers
}

// labelIn finds "  3: " or "worker-1: " at the start of a line. A host has a digit, a dot or a dash in it, which tells it from the
// many words that a colon follows, and does not look like a date. The space after the colon is missing when the line had nothing else.
func labelIn(line string) (label string, n int) {
	start := 0
	for start < len(line) && start < 6 && line[start] == ' ' {
		start++
	}
	i := start
	for i < len(line) && i-start < maxLabelLen && hostByte(line[i]) {
		i++
	}
	if i == start || i == len(line) || line[i] != ':' {
		return "", 0
	}
	label = line[start:i]
	if !strings.ContainsAny(label, digits) || !isNumber(label) && (start > 0 || IsDigit(label[0]) && !strings.Contains(label, ".")) {
		return "", 0
	}
	switch {
	case i+1 == len(line):
		return label, i + 1
	case line[i+1] == ' ':
		return label, i + 2
	}
	return "", 0
}

func hostByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '.' || c == '_'
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) <= 6
}

var (
	rankInName = pattern.Lazy(`(?i)(?:^|[^a-z])rank[_.=-]?(\d{1,6})(?:[^\d]|$)`)
	procInName = pattern.Lazy(`(?i)(?:^|[^a-z])(?:worker|proc|process|gpu|task)[_.=-]?(\d{1,6})(?:[^\d]|$)`)
	numberName = pattern.Lazy(`(?i)[a-z_-]\.(\d{1,6})\.(?:log|txt|out|err|stderr|stdout)$`)
	attemptDir = pattern.Lazy(`^attempt_\d+$`)
)

// RankOfPath is the rank that the path of a per-rank log file names, as torchrun (attempt_0/3/stderr.log) and people (rank_3.log,
// log_rank3.txt, train.3.log) name them, or NoRank.
func RankOfPath(file string) int {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, ext := range []string{".gz", ".zst"} {
		file = strings.TrimSuffix(file, ext)
	}
	base := path.Base(file)
	if m := rankInName().FindStringSubmatch(base); m != nil {
		return Atoi(m[1])
	}
	dirs := strings.Split(path.Dir(file), "/")
	for i := len(dirs) - 1; i > 0; i-- {
		if isNumber(dirs[i]) && attemptDir().MatchString(dirs[i-1]) {
			return Atoi(dirs[i])
		}
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if m := rankInName().FindStringSubmatch(dirs[i]); m != nil && m[0] != "" && strings.HasSuffix(dirs[i], m[1]) {
			return Atoi(m[1])
		}
	}
	for _, pattern := range []func() *regexp.Regexp{procInName, numberName} {
		if m := pattern().FindStringSubmatch(base); m != nil {
			return Atoi(m[1])
		}
	}
	return NoRank
}
