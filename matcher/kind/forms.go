package kind

import (
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// form is one kind of text by its lines.
type form struct {
	kind  Kind
	first func() *regexp.Regexp // the first line that is not blank
	own   func() *regexp.Regexp // lines that such a text is made of
	sure  func() *regexp.Regexp // lines that hardly stand in any other text
	need  int                   // so many of them are enough
	never func() *regexp.Regexp // lines that no such text has; nil: any may stand in it

	share  float64 // own lines among those that are not blank, at least
	quoted quotation
}

// quotation is how a text of some kind quotes others.
type quotation int

const (
	unquoted quotation = iota
	indented           // as YAML does: what is indented below a line that ends in | or >
	strung             // as a programming language does: in strings over several lines
)

// lastOwn is how many of the last lines show whether a text ends as it began.
const lastOwn = 6

// logLine is a line that a program prints while it runs: with a time or a level before it, the end of a Python exception, a step of many
// ("Epoch: [0][10/5005]"), or what Slurm says of it.
const logLine = `^time="?\d{4}-\d\d-\d\dT\S+ level=|^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\[?\d\d:\d\d:\d\d|^\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b[]:]? |^Traceback \(most recent|^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|NotFound):|^\[ *\d+\.\d{6}\]|^[IWEF]\d{4} |^(?:srun|slurmstepd|sbatch|slurmd): |^\w[\w ]*:? ?(?:\[\d+\])?\[ *\d+/\d+\]`

var forms = []form{
	{
		kind:  Diff,
		first: pattern.Lazy(`^(?:diff --|Index: |--- \S|@@ -\d|From [0-9a-f]{40} |commit [0-9a-f]{7,40}\b)`),
		own:   pattern.Lazy(`^(?:[-+ @\\]|diff --|index |new file|deleted file|old mode|new mode|similarity |rename |copy |Binary files|commit |Author:|AuthorDate:|Commit:|CommitDate:|Date:|Merge:|From|Subject:|Index: |={10})`),
		sure:  pattern.Lazy(`^@@@? -\d+(?:,\d+)? `), need: 1, share: 0.95,
	},
	{
		kind:  Commits,
		first: pattern.Lazy(`^[*|\\/_ ]*(?:commit )?[0-9a-f]{7,40}\b|^\S.* \(\d+\):$`),
		own:   pattern.Lazy(`^[*|\\/_ ]*(?:(?:commit )?[0-9a-f]{7,40}(?: |$)|Author:|AuthorDate:|Commit:|CommitDate:|Date:|Merge:|gpgsig|$)|^    |^[*|\\/ ]+  |^      \S|^\S.* \(\d+\):$|^ \S+ +\| +\d+ |^ \d+ files? changed|^:\d{6} |^[AMDRT]\d*\t`),
		sure:  pattern.Lazy(`^[*|\\/_ ]*(?:commit [0-9a-f]{7,40}(?: |$)|(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{4,38} \S)|^\S.* \(\d+\):$`), need: 2, share: 0.95,
	},
	{
		kind:  Found,
		first: pattern.Lazy(`^[\w./\-]+\.\w+[:-]\d+[:-]`),
		own:   pattern.Lazy(`^[\w./\-]+\.\w+[:-]\d+[:-](?:[^\s\d]|\s{2}|\t|\d\D|$)|^--$`),
		sure:  pattern.Lazy(`^[\w./\-]+\.\w+:\d+:`), need: 2, share: 0.95,
		never: pattern.Lazy(`:\d+(?::\d+)?: ?(?:fatal )?(?:error|warning|note|\w*Warning)\b`),
	},
	{
		kind:  Listing,
		first: pattern.Lazy(`^(?:total \d|[-dlcbps][-rwxsStT]{9}|\.{0,2}/\S*:?$|\S+/$|\.$)`),
		own:   pattern.Lazy(`^(?:total \d|[-dlcbps][-rwxsStT]{9}|\.{0,2}/?(?:[^\s:]+/)+[^\s:]*:?$)|^\s*[│├└]|^\d+ director`),
		sure:  pattern.Lazy(`^[-dlcbps][-rwxsStT]{9}|[├└]──|^\S*/\S*$`), need: 2, share: 0.95,
	},
	{
		kind:  Commands, // a shell's history
		first: pattern.Lazy(`^\s*\d+\s+\S|^: \d{9,}:\d+;|^#\d{9,}$|^(?:sudo |time )?(?:cd|ls|ll|git|pip|conda|python3?|export|source|ssh|vim?|nvidia-smi|cat|sbatch|squeue|tail|tmux|htop|torchrun|docker|make|mkdir|rm|scp|rsync|echo)\b`),
		own:   pattern.Lazy(`^\s+\d+\s+\S|^: \d{9,}:\d+;|^#\d{9,}$|^(?:sudo |time )?(?:\w+=\S+ )*(?:cd|ls|ll|git|pip3?|uv|conda|python3?|export|source|ssh|vim?|nano|nvidia-smi|cat|less|grep|sbatch|srun|salloc|squeue|scancel|sacct|tail|head|tmux|screen|htop|top|torchrun|accelerate|deepspeed|docker|kubectl|make|cmake|mkdir|rm|mv|cp|scp|rsync|wget|curl|echo|unset|kill|pkill|ps|df|du|dmesg|journalctl|history|exit|clear|which|module|tar|find|watch|chmod|ln|nvcc|bash|sh|man)(?: |$)`),
		sure:  pattern.Lazy(`^\s+\d+\s+[a-z./]|^: \d{9,}:\d+;|^#\d{9,}$|^(?:cd|ls|ll|git|vim?|export|source|ssh|sbatch|squeue|tail|mkdir|python3?|pip3?)(?: |$)`), need: 3, share: 0.95,
	},
	{
		kind:  Config, // JSON
		first: pattern.Lazy(`^[\[{]`),
		own:   pattern.Lazy(`^\s*(?:"(?:[^"\\]|\\.)*"\s*(?::|,?$)|[\[{}\]]+,?$|-?[\d.]+(?:e[-+]?\d+)?,?$|(?:true|false|null),?$)`),
		sure:  pattern.Lazy(`^\s+"(?:[^"\\]|\\.)*"\s*: `), need: 2, share: 1,
		never: pattern.Lazy(`(?i)"(?:message|msg|log|logs|events?|timestamp|status|state|phase|reason|exit_?code|traceback|nbformat|cells|stack_?trace|error|exc_info|exception|stderr|stdout|output|body|schema)"\s*:`),
	},
	{
		kind:  Config, // YAML
		first: pattern.Lazy(`^(?:#|---|%YAML|"?[A-Za-z_][\w.\-/ ]*"?:(?: |$)|- \S)`),
		own:   pattern.Lazy(`^\s*(?:#|---$|\.\.\.$|(?:- )*["']?[\w.$<*@~\-/]+["']?:(?:\s|$)|- |-$|[}\])],?$|["'].*["'],?$)|^\s{2,}\S`),
		sure:  pattern.Lazy(`^\s*(?:- )?["']?[\w.\-/]+["']?:(?:$| [|>][-+]?$| [\[{])|^\s*- [\w.\-]+: \S`), need: 1, share: 0.98, quoted: indented,
		never: pattern.Lazy(logLine + `|^\s*(?:status|containerStatuses|lastState|involvedObject|exitCode):|^[A-Z][\w ]*:\s{2,}\S|^\s+Type\s+Reason\s+Age\s|^[\w.@\-]+\.(?:service|socket|mount|timer|scope|slice|target): `),
	},
	{
		kind:  Config, // INI, TOML, and files of environment variables
		first: pattern.Lazy(`^(?:[#;]|\[{1,2}[\w."'\-: /*]+\]{1,2}$|(?:export )?[\w.\-"]+\s*=)`),
		own:   pattern.Lazy(`^\s*(?:[#;]|\[{1,2}[\w."'\-: /*]+\]{1,2}$|(?:export )?[\w.\-"/*]+\s*=|["'{].*,?$|[\])}],?$)|^\s{2,}\S`),
		sure:  pattern.Lazy(`^\[{1,2}[\w."'\-: /*]+\]{1,2}$|^(?:export )?[A-Z][A-Z0-9_]*=|^[a-z][\w.\-]* ?= ?\S`), need: 2, share: 0.98,
		never: pattern.Lazy(logLine + `|^\s*(?:JobState|JobId)=`),
	},
	{
		kind:  Source,
		first: pattern.Lazy(`^\s*(?:#|//|/\*|\*|<!--|--|;|"""|'''|r"""|@|\{|<\?php|'use strict'|"use strict")|` + codeLine),
		own:   pattern.Lazy(`^\s*(?:#|//|/\*|\*|--|"""|'''|@\w)|[{}()\[\];,\\:=]$|^\s*(?:return|raise|yield|else|try|finally|pass|break|continue|case|if|for|while|with|assert|elif|except|throw|del|global|print|echo|export|set|fi|done|esac|end|goto|then|do|default|defer|go|var|let|const|import|from|package|use)\b|\w\s*(?:[-+*/|&]?=|:=|<-)\s*\S|^\s+\S.*[,)]$|^\s*["'` + "`" + `rfb]+["'` + "`" + `]|` + codeLine),
		sure:  pattern.Lazy(codeLine), need: 2, share: 0.5, quoted: strung,
		never: pattern.Lazy(`^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*\b(?:INFO|ERROR|WARNING|DEBUG)\b|^\x60{3}`),
	},
}

// codeLine is a line of a programming language that hardly stands in any other text.
const codeLine = `^\s*(?:async )?def \w+\(|^\s*class \w+(?:\(.*\))?:|^\s*class \w+.*\{$|^\s*from [\w.]+ import \S|^import [\w.]+(?:\s*,\s*[\w.]+)*(?: as \w+)?;?$` + // Python, Java
	`|^\s*#\s*(?:include\s*[<"]|define \w|pragma \w|if(?:n?def)? \S|endif)|^\s*(?:inline |static |constexpr |extern |virtual |__global__ |__device__ |explicit )+\w.*[({;]$|^\s*(?:namespace|template\s*<|typedef|using|struct|enum(?: class)?|union)\b.*[{;>]$` + // C, C++
	`|^package \w+;?$|^func (?:\(\w+ \*?[\w\[\]]+\) )?\w+(?:\[.*\])?\(|^import \($|^type \w+(?:\[.*\])? (?:struct|interface|func|map|\w+)|^\s*(?:if|for) .*\{$|^\s*\w[\w, ]* := \S` + // Go
	`|^\s*(?:pub(?:\(\w+\))? )?(?:fn|mod|impl|trait|struct|enum) \w.*[{;]$|^\s*use [\w:]+.*;$|^\s*let (?:mut )?\w+.*;$` + // Rust
	`|^\s*(?:export )?(?:default )?(?:async )?function\b.*\{$|^\s*(?:export )?(?:const|let|var) [\w{}, ]+ = .*[;{(]$|^\s*(?:public|private|protected)\b.*[{;]$` + // JavaScript, Java
	`|^#!\s*/|^\s*if \[\[? .*\]?\](?:; then)?$|^\s*(?:for \w+ in .*; do|while .*; do|esac|fi)$|^set -[eux]+` + // shell
	`|^FROM \S+(?: AS \w+)?$|^(?:RUN|COPY|ENTRYPOINT|WORKDIR) \S|^(?:all|clean|install|test|build|help|check|\.PHONY|%\.o|\$\(\w+\)):|^(?:cmake_minimum_required|add_library|add_executable|find_package|target_link_libraries)\(` // Dockerfile, make, CMake

// fits tells whether a text is of the form. What it quotes tells nothing, and neither does the code that a traceback shows.
func (f *form) fits(t *text) bool {
	if !f.first().MatchString(t.filled[0]) {
		return false
	}
	var own, sure, quoted, atEnd int // atEnd: own lines among the last ones
	quotes := quotes{how: f.quoted}
	for i, line := range t.filled {
		last := i >= len(t.filled)-lastOwn
		switch {
		case quotes.inside(line):
			quoted++
			if last {
				atEnd++
			}
		case f.never != nil && f.never().MatchString(line):
			return false
		case i > 0 && frame().MatchString(t.filled[i-1]):
		case f.own().MatchString(line):
			own++
			if last {
				atEnd++
			}
			if f.sure().MatchString(line) {
				sure++
			}
		}
	}
	return atEnd*2 > min(lastOwn, len(t.filled)) && sure >= f.need && float64(own) >= f.share*float64(len(t.filled)-quoted)
}

var frame = pattern.Lazy(`^\s*File ".*", line \d+`)

// quotes tells what of a text is a quotation.
type quotes struct {
	how    quotation
	open   string // what the quotation ends with, or " " when it ends with less indentation
	indent int    // of the line above it
}

// inside tells whether a line is part of a quotation, and not the first one.
func (q *quotes) inside(line string) bool {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	switch {
	case q.how == unquoted:
	case q.open == " " && indent > q.indent:
		return true
	case q.open != "" && q.open != " ":
		if strings.Count(line, q.open)%2 == 1 {
			q.open = ""
		}
		return true
	case q.how == indented:
		q.open, q.indent = "", indent
		if blockBegins().MatchString(line) {
			q.open = " "
		}
	default:
		q.open = stringBegins(line)
	}
	return false
}

var blockBegins = pattern.Lazy(`(?:^|[:-] )(?:[\w.\-/]+: )?[|>][-+]?\d*[-+]?$`)

// stringBegins is the mark of a string over several lines that begins in a line of code, "" when none does.
func stringBegins(line string) string {
	for _, mark := range []string{`"""`, "'''"} {
		if strings.Count(line, mark)%2 == 1 {
			return mark
		}
	}
	if strings.Count(line, "`")%2 == 1 && rawString().MatchString(line) {
		return "`"
	}
	return ""
}

var rawString = pattern.Lazy("`$|[=:,({+] ?`")
