package logline

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// maxRank is more than any job has.
const maxRank = 9_999_999

// ParseRank reads a rank in digits. What is none, or a number that no rank can have, is NoRank.
func ParseRank(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n > maxRank {
		return NoRank
	}
	return n
}

// rankNames saves making the same few names for every line.
var rankNames = func() (names [512]string) {
	for i := range names {
		names[i] = "rank" + strconv.Itoa(i)
	}
	return names
}()

// rankName is the writer of a line whose global rank is known: it says more than all other prefixes.
func rankName(rank int) string {
	if rank < len(rankNames) {
		return rankNames[rank]
	}
	return "rank" + strconv.Itoa(rank)
}

// taggedRank is a rank in the text itself: [Rank 3], [PG ID 0 PG GUID 0(default_pg) Rank 5], [rank: 0].
var taggedRank = pattern.Lazy(`^\[(?:PG [^\]\[]{1,120}? )?[Rr]ank[:= ]{0,2}(\d{1,6})\]`)

// RankTag is the rank that a message begins with, as c10d and Lightning write it, or NoRank.
func RankTag(body string) int {
	if !strings.HasPrefix(body, "[") {
		return NoRank
	}
	if m := taggedRank().FindStringSubmatch(body); m != nil {
		return ParseRank(m[1])
	}
	return NoRank
}

// maxProcessLen is how many bytes the host, process, thread and GPU take that NCCL begins its lines with.
const maxProcessLen = 100

// hostProcess is host:pid:tid [gpu] text, as NCCL and its network plugins write.
var hostProcess = pattern.Lazy(`^([\w.-]+:\d+):\d+ \[\d+\] `)

// processIn is the host and process that wrote a line without a prefix of its own, or "".
func processIn(text string) string {
	window := text[:min(len(text), maxProcessLen)]
	word, _, ok := strings.Cut(window, " ")
	if !ok || strings.Count(word, ":") != 2 {
		return ""
	}
	if m := hostProcess().FindStringSubmatch(window); m != nil {
		return m[1]
	}
	return ""
}

var (
	rankInName = pattern.Lazy(`(?i)(?:^|[^a-z])rank[_.=-]?(\d{1,6})(?:[^\d]|$)`)
	procInName = pattern.Lazy(`(?i)(?:^|[^a-z])(?:worker|proc|process|gpu|task)[_.=-]?(\d{1,6})(?:[^\d]|$)`)
	numberName = pattern.Lazy(`(?i)[a-z_-]\.(\d{1,6})\.(?:log|txt|out|err|stderr|stdout)$`)
	attemptDir = pattern.Lazy(`^attempt_\d+$`)
)

// rankOfPath is the rank that the path of a per-rank log file names, as torchrun (attempt_0/3/stderr.log) and people (rank_3.log,
// log_rank3.txt, train.3.log) name them, or NoRank.
func rankOfPath(file string) int {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, ext := range []string{".gz", ".zst"} {
		file = strings.TrimSuffix(file, ext)
	}
	base := path.Base(file)
	if m := rankInName().FindStringSubmatch(base); m != nil {
		return ParseRank(m[1])
	}
	if rank, ok := rankOfFolder(strings.Split(path.Dir(file), "/")); ok {
		return rank
	}
	for _, name := range []func() *regexp.Regexp{procInName, numberName} {
		if m := name().FindStringSubmatch(base); m != nil {
			return ParseRank(m[1])
		}
	}
	return NoRank
}

// rankOfFolder is the rank that one of the folders in a path names, the innermost first.
func rankOfFolder(dirs []string) (rank int, ok bool) {
	for i := len(dirs) - 1; i > 0; i-- {
		if isNumber(dirs[i]) && attemptDir().MatchString(dirs[i-1]) {
			return ParseRank(dirs[i]), true
		}
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if m := rankInName().FindStringSubmatch(dirs[i]); m != nil && strings.HasSuffix(dirs[i], m[1]) {
			return ParseRank(m[1]), true
		}
	}
	return NoRank, false
}

// maxDigits is how many digits a rank has, leading zeros included.
const maxDigits = 6

// isNumber tells whether a text is a number that a rank can be.
func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= maxDigits
}
