package backend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// maxBatchLine bounds one line of a batch, in bytes.
const maxBatchLine = 1 << 20

// BatchOptions say what a batch answers beside the selection.
type BatchOptions struct {
	Changes int // at most so many proposals for a situation without a backend
}

// batchQuery is one line of a batch.
type batchQuery struct {
	ID    json.RawMessage `json:"id"`
	Facts map[string]any  `json:"facts"`
}

// Batch answers one situation a line, in order: JSON Lines {"id", "facts"} in, {"id", "available", "selected", ..., "unknown", "disabled"}
// out. A line that cannot be read is answered by {"id", "error"}. The error tells that reading or writing failed.
func (l *Library) Batch(v *fact.Vocabulary, in io.Reader, out io.Writer, options BatchOptions) error {
	type job struct {
		line   []byte
		answer chan []byte
	}
	workers := runtime.GOMAXPROCS(0)
	jobs, inOrder := make(chan job, 4*workers), make(chan job, 64*workers)
	values := &versionCache{}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			s := l.newSituation()
			for j := range jobs {
				clear(s.Values)
				j.answer <- l.answer(v, values, s, j.line, options)
			}
		})
	}
	written := make(chan error, 1)
	go func() {
		w := bufio.NewWriterSize(out, 1<<16)
		var failed error
		for j := range inOrder {
			if answer := <-j.answer; failed == nil {
				_, failed = w.Write(answer)
			}
		}
		written <- errors.Join(failed, w.Flush())
	}()
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), maxBatchLine)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		j := job{bytes.Clone(lines.Bytes()), make(chan []byte, 1)}
		inOrder <- j
		jobs <- j
	}
	close(jobs)
	running.Wait()
	close(inOrder)
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("a line has more than %d bytes", maxBatchLine)
	}
	return errors.Join(err, <-written)
}

// answer answers one line, in a situation in which nothing is known yet.
func (l *Library) answer(v *fact.Vocabulary, values *versionCache, s *condition.Situation, line []byte, options BatchOptions) []byte {
	var q batchQuery
	if err := json.Unmarshal(line, &q); err != nil {
		return failure(nil, fmt.Errorf("not a JSON object with id and facts: %w", err))
	}
	for name, decoded := range q.Facts {
		i, ok := l.byName[name]
		if !ok {
			if _, known := v.Fact(name); !known {
				return failure(q.ID, fmt.Errorf("unknown fact %s", name))
			}
			continue
		}
		value, err := values.fromJSON(decoded, l.facts[i].Type)
		if err != nil {
			return failure(q.ID, fmt.Errorf("%s: %w", name, err))
		}
		s.Assign(l.facts[i].slot, l.normal(i, value))
	}
	l.complete(s)
	answer := l.brief(s)
	if options.Changes > 0 {
		answer["changes"] = l.briefChanges(s, options.Changes)
	}
	answer["id"] = q.ID
	return encode(answer)
}

// brief is a selection in the batch's form: the rules' names without their words.
func (l *Library) brief(s *condition.Situation) map[string]any {
	candidates, note := l.candidates(s)
	selection := l.silent(note)
	if len(candidates) > 0 {
		e := l.settle(s, candidates)
		selection.Backends = selection.Backends[:0]
		for i, b := range l.backends {
			selection.Backends = append(selection.Backends, BackendVerdict{Name: b.name, Verdict: e.backends[i].verdict()})
		}
		l.report(s, &e, &selection, len(candidates) > 1)
		if e.open() {
			l.ask(&selection, l.deciding(s, candidates))
		}
	}
	answer := map[string]any{"available": selection.Available(), "unknown": selection.Unsure(), "selected": nil}
	if selection.Selected != "" {
		answer["selected"] = selection.Selected
	}
	for name, value := range selection.Reports {
		answer[name] = value.JSON()
	}
	disabled := make(map[string][]string)
	for i, b := range selection.Backends {
		if b.Verdict == Disabled {
			disabled[b.Name] = l.ids(s, i, len(candidates) > 1)
		}
	}
	answer["disabled"] = disabled
	if note != "" {
		answer["note"] = note
	}
	if len(selection.Missing) > 0 {
		names := []string{}
		for _, m := range selection.Missing {
			names = append(names, m.Name)
		}
		answer["missing"] = names
	}
	return answer
}

// ids are the names of the rules that take a backend out; when none does so for certain, of those that may.
func (l *Library) ids(s *condition.Situation, backend int, manyReleases bool) []string {
	certain, possible := []string{}, []string{}
	if manyReleases {
		return certain
	}
	for r, fired := range l.reasons(s, l.at(s), backend) {
		if fired == on {
			certain = append(certain, r.id)
		} else {
			possible = append(possible, r.id)
		}
	}
	if len(certain) == 0 {
		return possible
	}
	return certain
}

// briefChange is a proposal in the batch's form.
type briefChange struct {
	Set      map[string]any `json:"set"`
	Implies  map[string]any `json:"implies,omitempty"`
	Cost     int            `json:"cost"`
	Selected string         `json:"selected"`
	Loses    []string       `json:"loses,omitempty"`
}

func (l *Library) briefChanges(s *condition.Situation, limit int) []briefChange {
	brief := []briefChange{}
	candidates, _ := l.candidates(s)
	if len(candidates) != 1 {
		return brief
	}
	l.setRelease(s, candidates[0])
	if l.possible(s) {
		return brief
	}
	for _, c := range l.changes(s, limit) {
		one := briefChange{Set: jsonOf(c.Set), Implies: jsonOf(c.Implies), Cost: c.Cost, Selected: c.Selected}
		for _, step := range c.Steps {
			if step.Loses != "" {
				one.Loses = append(one.Loses, step.Loses)
			}
		}
		brief = append(brief, one)
	}
	return brief
}

func jsonOf(values map[string]condition.Value) map[string]any {
	decoded := make(map[string]any, len(values))
	for name, v := range values {
		decoded[name] = v.JSON()
	}
	return decoded
}

func failure(id json.RawMessage, err error) []byte {
	return encode(map[string]any{"id": id, "error": err.Error()})
}

func encode(answer map[string]any) []byte {
	if id, ok := answer["id"].(json.RawMessage); ok && len(id) == 0 {
		answer["id"] = nil
	}
	text, err := json.Marshal(answer)
	if err != nil { // only an id that is no JSON can fail, and that was read as JSON
		text = []byte(`{"error": "the answer cannot be written"}`)
	}
	return append(text, '\n')
}

// versionCache keeps parsed versions: a batch names the same few again and again.
type versionCache struct {
	parsed sync.Map // text -> Value
	mu     sync.Mutex
	size   int
}

const maxCachedVersions = 4096

func (c *versionCache) fromJSON(decoded any, want condition.Type) (condition.Value, error) {
	text, ok := decoded.(string)
	if !ok || want != condition.VersionType {
		return condition.FromJSON(decoded, want)
	}
	if v, ok := c.parsed.Load(text); ok {
		return v.(condition.Value), nil
	}
	v, err := condition.FromJSON(decoded, want)
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size < maxCachedVersions {
		c.size++
		c.parsed.Store(text, v)
	}
	return v, nil
}
