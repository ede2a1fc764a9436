// Package flight reads the dumps of PyTorch's NCCL flight recorder, which each rank writes when a collective times out
// (TORCH_NCCL_DUMP_ON_TIMEOUT), and finds where the ranks part: who never joined a collective, and who called another one. A file goes in
// (Is, Read), and from all of them come findings about ranks (Compare), which signatures know by their kinds.
//
// Dumps are Python pickles. What could call something is refused, and nothing is longer than the file, which is why no library reads them:
// see unpickle.
package flight

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// maxBytes bounds one dump; the recorder keeps some thousand entries of a few hundred bytes each.
const maxBytes = 64 << 20

// Dump is what one rank recorded.
type Dump struct {
	Source string
	Rank   int
	groups map[string]group
	calls  map[callKey]call
	last   map[string]int // the newest collective of each group

	receipts []receipt     // that did not come
	sends    map[sent]bool // that were not received
}

// The states of a call. That it has started is known only where the recorder times calls (TORCH_NCCL_ENABLE_TIMING).
const (
	started   = "started"
	completed = "completed"
)

// group is a process group.
type group struct {
	name    string // as the recorder numbers it
	about   string
	members []int
}

// callKey names a collective: all its ranks have the same.
type callKey struct {
	group string
	seq   int // counts the collectives of a group from 1
}

// call is one collective as one rank saw it.
type call struct {
	op    string
	sizes string
	state string // scheduled, started or completed
	from  string // the user's line, when frames were recorded
}

// Is tells whether a file begins like a dump: a pickle that names the recorder's own keys.
func Is(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && (bytes.Contains(head, []byte("pg_config")) || bytes.Contains(head, []byte("comm_lib_version")) || bytes.Contains(head, []byte("nccl_version")))
}

var (
	trailingNumber = pattern.Lazy(`(\d+)(?:\.\w+)?$`)
	anyNumber      = pattern.Lazy(`\d+`)
)

// Read reads a dump, and tells how many bytes it has. The error is from's, or says what is wrong with the dump.
func Read(source string, from io.Reader) (d *Dump, size int64, err error) {
	data, err := io.ReadAll(io.LimitReader(from, maxBytes+1))
	if err != nil {
		return nil, 0, err
	}
	if len(data) > maxBytes {
		return nil, 0, fmt.Errorf("%s: a flight recorder's dump of more than %d MiB is not read", source, maxBytes>>20)
	}
	d, err = parse(source, data)
	return d, int64(len(data)), err
}

// parse reads a dump. Its rank is the number at the end of the file's name, as PyTorch writes it (nccl_trace_rank_3); the recorder
// itself does not say it.
func parse(source string, data []byte) (*Dump, error) {
	m := trailingNumber().FindStringSubmatch(source)
	if m == nil {
		return nil, fmt.Errorf("%s: a flight recorder's dump whose name does not end in its rank, as nccl_trace_rank_3 does", source)
	}
	rank, err := strconv.Atoi(m[1])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	root, err := unpickle(data)
	if err != nil {
		return nil, fmt.Errorf("%s: not readable as a flight recorder's dump: %w", source, err)
	}
	top, ok := root.(dict)
	if !ok {
		return nil, fmt.Errorf("%s: %w", source, errNoDump)
	}
	d := &Dump{Source: source, Rank: rank, groups: make(map[string]group), calls: make(map[callKey]call), last: make(map[string]int), sends: make(map[sent]bool)}
	d.readGroups(top)
	d.readEntries(top)
	return d, nil
}

var errNoDump = errors.New("a pickle, but no flight recorder's dump")

// readGroups takes the process groups, with the number of the last collective that was enqueued in each.
func (d *Dump) readGroups(top dict) {
	configs, _ := top["pg_config"].(dict)
	for name, v := range configs {
		config, _ := v.(dict)
		g := group{name: name, about: text(config["desc"])}
		for _, digits := range anyNumber().FindAllString(text(config["ranks"]), -1) {
			if rank, err := strconv.Atoi(digits); err == nil {
				g.members = append(g.members, rank)
			}
		}
		d.groups[name] = g
	}
	status, _ := top["pg_status"].(dict)
	for name, v := range status {
		s, _ := v.(dict)
		if n, ok := s["last_enqueued_collective"].(int); ok {
			d.last[name] = n
		}
	}
}

// readEntries takes the collectives, and what ranks send to each other in pairs.
func (d *Dump) readEntries(top dict) {
	entries, _ := top["entries"].(*list)
	if entries == nil {
		return
	}
	for _, v := range entries.items {
		entry, _ := v.(dict)
		seq, ok := entry["collective_seq_id"].(int)
		process, _ := entry["process_group"].(*list)
		if !ok || process == nil || len(process.items) == 0 {
			continue
		}
		name := text(process.items[0])
		c := call{
			op: text(entry["profiling_name"]), state: text(entry["state"]), from: caller(entry["frames"]),
			sizes: shape(entry["input_sizes"]) + " " + shape(entry["input_dtypes"]),
		}
		if entry["is_p2p"] == true {
			pair, _ := entry["p2p_seq_id"].(int)
			d.readPair(name, pair, c)
			continue
		}
		d.calls[callKey{name, seq}] = c
		d.last[name] = max(d.last[name], seq)
	}
}

// text is a value that is a text, "" for others.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// maxShape is how many items of a list of sizes are shown.
const maxShape = 8

// shape writes a list of types, or of sizes, which are lists themselves: [4x1024, 8].
func shape(v any) string {
	l, ok := v.(*list)
	if !ok {
		return ""
	}
	items := make([]string, min(len(l.items), maxShape))
	for i := range items {
		if sizes, ok := l.items[i].(*list); ok {
			items[i] = product(sizes)
		} else {
			items[i] = text(l.items[i])
		}
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// product writes the sizes of one tensor: 4x1024.
func product(sizes *list) string {
	factors := make([]string, min(len(sizes.items), maxShape))
	for i := range factors {
		if n, ok := sizes.items[i].(int); ok {
			factors[i] = strconv.Itoa(n)
		}
	}
	return strings.Join(factors, "x")
}

var library = pattern.Lazy(`/(?:site|dist)-packages/|/lib/python\d`)

// caller is the innermost frame outside of installed packages.
func caller(v any) string {
	frames, _ := v.(*list)
	if frames == nil {
		return ""
	}
	for _, f := range frames.items {
		frame, _ := f.(dict)
		if file := text(frame["filename"]); file != "" && !library().MatchString(file) {
			line, _ := frame["line"].(int)
			return fmt.Sprintf("%s (%s:%d)", text(frame["name"]), file, line)
		}
	}
	return ""
}
