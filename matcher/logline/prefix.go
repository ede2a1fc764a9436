package logline

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gpu-triage/triage/rules/pattern"
)

// Form is what the beginning and the name of a source tell about all its lines. It does not change while the source is read, so
// that any line can be cleaned without those before it.
type Form struct {
	Source string
	rank   int    // from the path, NoRank when it tells none
	labels labels // what stands before each line
	Bare   bool   // colour codes lost their escape character
}

// Sniff tells the form of a source from its first bytes (64 KiB are plenty) and its path.
func Sniff(source string, head []byte) *Form {
	f := &Form{Source: source, rank: RankOfPath(source), Bare: bareCodes(head)}
	f.labels = labelsOf(head, f.clean)
	return f
}

// clean makes the bytes of a line, or a part of one, plain text.
func (f *Form) clean(raw []byte) string {
	text := printable(raw)
	if f.Bare {
		text = withoutBareCodes(text)
	}
	return text
}

// bareCodes tells whether the source has colour codes without their escape character, which JSON quotes.
func bareCodes(head []byte) bool {
	for at := 0; ; at += len(bareEnd) {
		n := bytes.Index(head[at:], []byte(bareEnd))
		if n < 0 {
			return false
		}
		if at += n; !bytes.HasSuffix(head[:at], []byte{Escape}) && !bytes.HasSuffix(head[:at], []byte(`\u001b`)) {
			return true
		}
	}
}

// A prefixForm is one way in which launchers, schedulers and collectors mark whose line it is. Its expression is anchored, and
// its groups say what was found: rank (global), local (a rank in the node, the role or the file: second best), writer (what tells
// processes apart). A form without colon or other end of its own is only believed when another prefix follows it.
type prefixForm struct {
	first      string                  // the bytes with which a line of this form can begin, "*" for letters and digits
	second     string                  // the bytes that can follow, "" for any
	Has        string                  // what such a prefix has in it
	expression func() prefixExpression // compiled for the first line that has all that: a log has few of the forms
	before     string                  // when not empty: the rest must begin with this
	Again      bool                    // each piece that was written brings it again, in the middle of the line
	message    bool                    // the rest must not be empty: "[0]:" alone is an entry of the launcher's list of failures
}

type prefixExpression struct {
	*regexp.Regexp
	rank, local, writer int // indices of the groups, 0 when there is none
}

// prefixForms are tried in this order, again and again, until none fits.
var PrefixForms = compilePrefixes([]prefixSource{
	// torchrun: [rank3]:, and with --tee [default3]: or the name of another role; TorchX and Monarch: [trainer3]:, [trainer0|0]:
	{first: "[", second: "r", has: "rank", re: `\[rank(?P<rank>\d{1,6})\](?:: ?| )`},
	{first: "[", second: "dtwalprng", has: "]:", re: `\[(?P<writer>(?:default|trainer|worker|actor|learner|proc|process|replica|role|node|gpu|local_rank)(?P<local>\d{1,6}))(?:\|\d+)?\]: ?`},
	{first: "[", second: digits, has: "]:", re: `\[(?P<local>\d{1,5})\]: ?`, message: true},
	// mpirun --tag-output: [1,15]<stdout>:
	{first: "[", has: "<std", re: `\[\d+,(?P<rank>\d{1,6})\]<(?:stdout|stderr|stddiag)>:`, again: true},
	{first: "[", has: "<std", re: `\[[\w.-]+@\d+,(?P<rank>\d{1,6})\]<(?:stdout|stderr|stddiag)>: ?`, again: true},
	// kubectl logs --prefix: [pod/name/container]
	{first: "[", second: "p", has: "pod/", re: `\[(?P<writer>pod/[\w.-]+/[\w.-]+)\] `},
	// SageMaker: [1,mpirank:0,algo-1]<stderr>:
	{first: "[", second: digits, has: "mpirank:", re: `\[\d+,mpirank:(?P<rank>\d{1,6}),[\w.-]+\]<std\w+>: ?`},
	// a counter put before each line by a web page: [80746] [rank0]:
	{first: "[", second: digits, has: "] [rank", re: `\[\d+\] `, before: "[rank"},
	// Ray, vLLM and its like: (Worker pid=7207, ip=10.0.0.1), (raylet), (raylet, ip=10.0.0.1), (pid=12)
	{first: "(", has: "pid=", re: `\((?P<writer>[\w.:<>\[\]-]* ?(?:[\w-]+=[^,()]*, )*?(?:rank=(?P<rank>\d+)[, ]+)?pid=\d+(?:, \w+=[^,()]*)*)\) ?`},
	{first: "(", second: "rga", re: `\((?P<writer>(?:raylet|gcs_server|autoscaler)(?:[ ,][^()]*)?)\) ?`},
	// Metaflow: 2023-04-29 06:01:12.977 [177/train/578 (pid 28936)]
	{first: digits, has: " (pid ", re: `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[(?P<writer>\d+/[\w./-]+ \(pid \d+\))\] `},
	// launchers that name the node before torchrun's own prefix: 0000-steps/0 [default6]:
	{first: "*", has: " [", re: `[\w.-]+/\d+ `, before: "["},
	// docker compose: trainer-1  | text, algo-1-7vp5o  | text
	{first: "*", has: " | ", re: `(?P<writer>[a-z0-9][\w.-]*-\d+(?:-[a-z0-9]+)?) +\| `},
	// torchrun's prefix after a web page took its brackets for a link
	{first: "*", has: "ank", re: `[Rr]ank ?(?P<rank>\d{1,6}): `},
	// GitHub Actions' commands: ##[error]text
	{first: "#", has: "##[", re: `##\[(?:error|warning|debug|command)\]`},
})

type prefixSource struct {
	first, second, has, re, before string
	again, message                 bool
}

const digits = "0123456789"

func compilePrefixes(sources []prefixSource) []prefixForm {
	forms := make([]prefixForm, len(sources))
	for i, s := range sources {
		forms[i] = prefixForm{first: s.first, second: s.second, Has: s.has, before: s.before, Again: s.again, message: s.message}
		forms[i].expression = sync.OnceValue(func() prefixExpression {
			re := regexp.MustCompile(`^` + s.re)
			return prefixExpression{re, max(0, re.SubexpIndex("rank")), max(0, re.SubexpIndex("local")), max(0, re.SubexpIndex("writer"))}
		})
	}
	return forms
}

// prefixes is what all prefixes of a line say together.
type prefixes struct {
	rank, local int
	writer      string
	rest        string
	found       bool
}

const (
	maxPrefixes  = 6   // more are not stripped from one line
	maxPrefixLen = 300 // a prefix is looked for in that many bytes
)

// writer is a line without \r as far as it takes to tell whose it is: the header of a log record is left in its text.
func (f *Form) Writer(raw []byte) Line {
	line, p := f.prefixed(f.clean(raw))
	if strings.Contains(line.Text, "ank") { // a rank may stand behind such a header
		parseRecord(&line)
	}
	f.whose(&line, &p, Line{Rank: f.rank})
	return line
}

// parse takes the prefixes from a cleaned line. What they do not say is taken from the part before it in the same line.
func (f *Form) parse(text string, before Line) Line {
	line, p := f.prefixed(text)
	parseRecord(&line)
	f.whose(&line, &p, before)
	return line
}

// prefixed takes the prefixes from a cleaned line.
func (f *Form) prefixed(text string) (Line, prefixes) {
	line := Line{Source: f.Source, Rank: NoRank}
	if strings.HasPrefix(text, DockerLog) {
		text, line.Time = unwrap(text)
	}
	p := prefixes{rank: NoRank, local: NoRank, rest: text}
	if label, n, ok := f.labels.label(text); ok {
		p.rest, p.found, p.writer = text[n:], true, label
		if f.labels.ranks {
			p.rank = Atoi(label)
		}
	}
	for range maxPrefixes {
		if t, n := transportStamp(p.rest); n > 0 {
			line.Time, p.rest, p.found = t, p.rest[n:], true
			continue
		}
		if !p.strip() {
			break
		}
	}
	line.Text = p.rest
	if strings.HasPrefix(text, "(") {
		line.Text = withoutRepeatCount(line.Text)
	}
	return line, p
}

// whose settles rank and writer of a line. A global rank names the process better than all else; one in the text counts if no prefix
// has one, then the second best in the prefixes, then what the part before it in the same line had, then the path.
func (f *Form) whose(line *Line, p *prefixes, before Line) {
	line.Rank, line.Writer = p.rank, p.writer
	tag := RankTag(line.Body())
	switch {
	case p.rank != NoRank:
		line.Writer = rankName(p.rank)
	case tag != NoRank:
		line.Rank = tag
		if p.writer == "" {
			line.Writer = rankName(tag)
		}
	case p.found || p.writer != "":
		line.Rank = p.local
	default:
		line.Rank, line.Writer = before.Rank, before.Writer
	}
	if line.Rank == NoRank {
		line.Rank = f.rank
	}
	if line.Writer == "" {
		line.Writer = processOf(line.Text)
	}
}

// strip takes one prefix off the rest.
func (p *prefixes) strip() bool {
	if p.rest == "" {
		return false
	}
	bracket := strings.IndexByte("[(#", p.rest[0]) >= 0
	if !bracket && !wordPrefix(p.rest) {
		return false
	}
	window := p.rest[:min(len(p.rest), maxPrefixLen)]
	for i := range PrefixForms {
		form := &PrefixForms[i]
		if !form.possible(window, bracket) {
			continue
		}
		expression := form.expression()
		if m := expression.FindStringSubmatchIndex(window); m != nil && p.take(form, expression, m) {
			return true
		}
	}
	return false
}

// possible tells cheaply whether the expression is worth trying.
func (f *prefixForm) possible(s string, bracket bool) bool {
	if f.first == "*" && bracket || f.first != "*" && strings.IndexByte(f.first, s[0]) < 0 {
		return false
	}
	return (f.second == "" || len(s) > 1 && strings.IndexByte(f.second, s[1]) >= 0) && strings.Contains(s, f.Has)
}

// take believes a form that matched, unless what follows speaks against it.
func (p *prefixes) take(form *prefixForm, groups prefixExpression, m []int) bool {
	rest := p.rest[m[1]:]
	if !strings.HasPrefix(rest, form.before) || form.message && rest == "" {
		return false
	}
	group := func(i int) string {
		if i == 0 || m[2*i] < 0 {
			return ""
		}
		return p.rest[m[2*i]:m[2*i+1]]
	}
	if s := group(groups.rank); s != "" {
		p.rank = Atoi(s)
	}
	if s := group(groups.local); s != "" && p.local == NoRank {
		p.local = Atoi(s)
		if groups.writer == 0 {
			p.writer += "[" + s + "]"
		}
	}
	if s := group(groups.writer); s != "" {
		p.writer += s
	}
	if form.Again {
		rest = strings.ReplaceAll(rest, p.rest[:m[1]], "")
	}
	p.rest, p.found = rest, true
	return true
}

// wordPrefix tells cheaply whether a line that begins with a letter or a digit can have one of the forms for such lines: a first
// word that ends in a digit or has a part that does, or a rank.
func wordPrefix(s string) bool {
	i := strings.IndexByte(s[:min(len(s), 80)], ' ')
	if i < 1 {
		return false
	}
	return IsDigit(s[i-1]) || strings.HasPrefix(s[1:], "ank") || strings.HasPrefix(s[i:], "  | ") && strings.IndexByte(s[:i], '-') > 0
}

// atoi reads digits that an expression has already checked; a number that no rank can have is NoRank.
func Atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n > 9_999_999 {
		return NoRank
	}
	return n
}

var (
	// ranks in the text itself: [Rank 3], [PG ID 0 PG GUID 0(default_pg) Rank 5], [rank: 0]
	tagged = pattern.Lazy(`^\[(?:PG [^\]\[]{1,120}? )?[Rr]ank[:= ]{0,2}(\d{1,6})\]`)
	// host:pid:tid [gpu] text, as NCCL and its network plugins write
	hostProcess = pattern.Lazy(`^([\w.-]+:\d+):\d+ \[\d+\] `)
	repeatCount = pattern.Lazy(` \[repeated \d+x across (?:all nodes|cluster)\].*$`)
)

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

// rankTag is the rank that a message begins with, or NoRank.
func RankTag(body string) int {
	if !strings.HasPrefix(body, "[") {
		return NoRank
	}
	if m := tagged().FindStringSubmatch(body); m != nil {
		return Atoi(m[1])
	}
	return NoRank
}

// processOf is the host and process that wrote a line without a prefix of its own, or "".
func processOf(text string) string {
	window := text[:min(len(text), 100)]
	if i := strings.IndexByte(window, ' '); i < 0 || strings.Count(window[:i], ":") != 2 {
		return ""
	}
	if m := hostProcess().FindStringSubmatch(window); m != nil {
		return m[1]
	}
	return ""
}

// withoutRepeatCount drops what Ray adds to a line that stands for many.
func withoutRepeatCount(text string) string {
	if !strings.Contains(text, "[repeated ") {
		return text
	}
	return repeatCount().ReplaceAllString(text, "")
}
