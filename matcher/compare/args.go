package compare

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/matcher/pyrepr"
)

// How much of each log is looked at for arguments: programs print them when they start.
const (
	headBytes = 1 << 20
	longest   = 32 << 10 // of a line, in bytes
	maxArgs   = 2000
	maxValue  = 200 // bytes
)

// Arguments collects what programs were called with, from the beginning of logs.
type Arguments struct {
	values map[string]string
}

// Reading is a reader that passes a log on and looks at its beginning. The arguments are complete when it has been read.
func (a *Arguments) Reading(log io.Reader) io.Reader {
	return io.TeeReader(log, &head{arguments: a})
}

// head takes the lines of the beginning of a log.
type head struct {
	arguments *Arguments
	taken     int
	line      []byte
}

// Write implements io.Writer. It never fails.
func (h *head) Write(p []byte) (int, error) {
	rest := p[:min(len(p), max(0, headBytes-h.taken))]
	h.taken += len(rest)
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			h.line = append(h.line, rest...)
			break
		}
		h.arguments.take(string(append(h.line, rest[:end]...)))
		h.line, rest = h.line[:0], rest[end+1:]
	}
	return len(p), nil
}

var (
	flag      = regexp.MustCompile(`(?:^|\s)--([A-Za-z][\w.-]*)(?:=|\s+)("[^"]*"|'[^']*'|[^\s"'-][^\s]*)`)
	command   = regexp.MustCompile(`\b(?:python[\d.]*|torchrun|srun|mpirun|deepspeed|accelerate launch|ray job submit)\s`)
	dotted    = regexp.MustCompile(`^\W*(?:\S{1,60}:\s+)?([A-Za-z]\w{1,60}) \.{5,}[. ]*(\S.*)$`) // as Megatron-LM and DeepSpeed print them
	namespace = regexp.MustCompile(`\b(?:Namespace|\w*Arguments|\w*Args)\(`)
)

// take looks for arguments in a line: on a command line, in a list with dots between names and values, in the object of a parser.
func (a *Arguments) take(line string) {
	if len(line) > longest {
		return
	}
	if m := dotted.FindStringSubmatch(line); m != nil {
		a.add(m[1], strings.TrimSpace(m[2]))
		return
	}
	if command.MatchString(line) {
		for _, m := range flag.FindAllStringSubmatch(line, maxArgs) {
			a.add(m[1], strings.Trim(m[2], `"'`))
		}
		return
	}
	if at := namespace.FindStringIndex(line); at != nil {
		a.object(line[at[0]:])
	}
}

// object takes what the printed object of a parser holds.
func (a *Arguments) object(text string) {
	entries, err := pyrepr.Parse("{0: " + text + "}")
	if err != nil || len(entries) != 1 {
		return
	}
	members, ok := entries[0].Value.(map[string]any)
	if !ok {
		return
	}
	for name, value := range members {
		if name != "type" {
			a.add(name, fmt.Sprint(value))
		}
	}
}

// add keeps the first value of a name, which - and _ do not tell apart.
func (a *Arguments) add(name, value string) {
	name = strings.ReplaceAll(name, "-", "_")
	if _, known := a.values[name]; known || len(a.values) == maxArgs {
		return
	}
	if a.values == nil {
		a.values = make(map[string]string)
	}
	a.values[name] = strings.ToValidUTF8(value[:min(len(value), maxValue)], "")
}
