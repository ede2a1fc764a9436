package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/gpu-triage/triage/rules/condition"
)

// batchQuery is one line of a batch.
type batchQuery struct {
	ID    json.RawMessage `json:"id"`
	Facts map[string]any  `json:"facts"`
}

// batchChange is a proposal in the batch's form.
type batchChange struct {
	Set      map[string]any `json:"set"`
	Implies  map[string]any `json:"implies,omitempty"`
	Cost     int            `json:"cost"`
	Selected string         `json:"selected"`
	Loses    []string       `json:"loses,omitempty"`
}

// answer answers one line, in a situation in which nothing is known yet.
func (b *batch) answer(s *situation, line batchLine) []byte {
	var q batchQuery
	if err := json.Unmarshal(line.text, &q); err != nil {
		return failure(nil, line.number, fmt.Errorf("not a JSON object with id and facts: %w", err))
	}
	if q.Facts == nil {
		return failure(q.ID, line.number, errors.New(`the field "facts" is missing`))
	}
	if err := b.take(s, q.Facts); err != nil {
		return failure(q.ID, line.number, err)
	}
	answer := brief(s)
	if b.options.Changes > 0 {
		answer["changes"] = briefChanges(s, b.options.Changes)
	}
	answer["id"] = q.ID
	return encode(answer)
}

// take puts facts into a situation.
func (b *batch) take(s *situation, facts map[string]any) error {
	l := b.library
	for name, value := range b.options.Known {
		if i, ok := l.byName[name]; ok {
			s.set(i, l.facts[i].asRead(value))
		}
	}
	for name, decoded := range facts {
		i, ok := l.byName[name]
		if !ok {
			if _, err := b.vocabulary.Known(name); err != nil {
				return err
			}
			continue
		}
		value, err := b.versions.fromJSON(decoded, l.facts[i].Type)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.set(i, l.facts[i].asRead(value))
	}
	s.complete()
	return nil
}

// brief is a selection in the batch's form: the rules' names without their words.
func brief(s *situation) map[string]any {
	e := evaluate(s)
	selection := e.verdicts()
	answer := map[string]any{"available": selection.Available(), "unknown": selection.Unsure(), "selected": nil, "disabled": e.disabled(selection)}
	if selection.Selected != "" {
		answer["selected"] = selection.Selected
	}
	for name, value := range selection.Reports {
		answer[name] = value.JSON()
	}
	if len(e.releases) == 1 {
		if raises := e.raises(); len(raises) > 0 {
			answer["raises"] = raises[0].ID
		}
		if beyond := e.beyond(); len(beyond) > 0 {
			answer["beyond"] = beyond
		}
	}
	if e.note != "" {
		answer["note"] = e.note
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

// disabled are the disabled backends with the rules that take them out: none in particular when several releases are in question.
func (e *evaluation) disabled(selection Selection) map[string][]string {
	disabled := make(map[string][]string)
	var behind *reasons
	for i, b := range selection.Backends {
		switch {
		case b.Verdict != Disabled:
		case len(e.releases) > 1:
			disabled[b.Name] = []string{}
		default:
			if behind == nil {
				behind = reasonsIn(e.situation)
			}
			disabled[b.Name] = behind.idsBehind(i)
		}
	}
	return disabled
}

func briefChanges(s *situation, limit int) []batchChange {
	brief := []batchChange{}
	for _, c := range changes(s, limit) {
		one := batchChange{Set: asJSON(c.Set), Implies: asJSON(c.Implies), Cost: c.Cost, Selected: c.Selected}
		for _, step := range c.Steps {
			if step.Loses != "" {
				one.Loses = append(one.Loses, step.Loses)
			}
		}
		brief = append(brief, one)
	}
	return brief
}

func asJSON(values map[string]condition.Value) map[string]any {
	decoded := make(map[string]any, len(values))
	for name, v := range values {
		decoded[name] = v.JSON()
	}
	return decoded
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
