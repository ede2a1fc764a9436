package backend

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
)

// table says what facts are for a name and a release: which attention a model class supports, say. Its file has tab-separated columns:
// the name, the release from which the row holds, and the facts. A row holds until the next one of its name; an empty field is not
// known, "none" known to be absent.
type table struct {
	key   int   // the fact that holds the name
	facts []int // those of the columns
	rows  []tableRow
}

// tableRow is a row, sorted by name and release.
type tableRow struct {
	name   string
	since  int // the first release (index) in which it holds
	values []condition.Value
}

// tableEntry is the form of a table in a rule file.
type tableEntry struct {
	File   rulefile.Text `yaml:"file"`
	Key    string        `yaml:"key"`
	Source string        `yaml:"source"`
}

// Bounds of a table.
const (
	maxTableSize    = 4 << 20 // bytes
	maxTableColumns = 16
	tableLead       = 2 // columns before those of the facts
)

// tableLoader reads the tables of a library.
type tableLoader struct{ *builder }

func (b tableLoader) compile() {
	b.each(func(f libraryFile) {
		for _, entry := range f.Tables {
			if err := b.read(entry); err != nil {
				b.Problem(entry.File.Line, entry.File.Column, "%s: %v", entry.File.Value, err)
			}
		}
	})
}

func (b tableLoader) read(entry tableEntry) error {
	l := b.library
	key, ok := l.byName[entry.Key]
	if !ok || entry.Source == "" {
		return fmt.Errorf("a table needs a source and a key that is one of the facts")
	}
	content, err := fs.ReadFile(b.layer, path.Join(path.Dir(b.File), entry.File.Value))
	if err != nil {
		return err
	}
	if len(content) > maxTableSize {
		return fmt.Errorf("it has more than %d bytes", maxTableSize)
	}
	lines := csv.NewReader(bytes.NewReader(content))
	lines.Comma, lines.ReuseRecord, lines.LazyQuotes = '\t', true, true
	header, err := lines.Read()
	if err != nil || len(header) <= tableLead || len(header) > maxTableColumns || header[0] != entry.Key || header[1] != "since" {
		return fmt.Errorf("its first line must name the columns: %s, since, and 1 to %d facts", entry.Key, maxTableColumns-tableLead)
	}
	t := &table{key: key}
	for _, name := range header[tableLead:] {
		fact, ok := l.byName[name]
		if !ok {
			return fmt.Errorf("the column %s is none of the facts", name)
		}
		t.facts = append(t.facts, fact)
	}
	t.rows, err = b.rows(t, lines)
	l.tables = append(l.tables, t)
	l.facts[key].keys = true
	return err
}

// rows reads what follows the header.
func (b tableLoader) rows(t *table, lines *csv.Reader) ([]tableRow, error) {
	var rows []tableRow
	known := make(map[string][]condition.Value) // by the fields: few rows differ
	for {
		fields, err := lines.Read()
		if err != nil { // the end, or something that is no row
			break
		}
		line, _ := lines.FieldPos(0)
		release, err := condition.ParseVersion(fields[1])
		at, ok := b.library.releaseOf(release)
		if err != nil || !ok {
			return nil, fmt.Errorf("line %d: %q is none of the releases", line, fields[1])
		}
		facts := strings.Join(fields[tableLead:], "\t")
		values, seen := known[facts]
		if !seen {
			values = make([]condition.Value, len(t.facts))
			for i, text := range fields[tableLead:] {
				values[i], err = tableValue(text, b.library.facts[t.facts[i]].Type)
				if err != nil {
					return nil, fmt.Errorf("line %d: %w", line, err)
				}
			}
			known[facts] = values
		}
		rows = append(rows, tableRow{strings.Clone(fields[0]), at, values})
	}
	slices.SortStableFunc(rows, func(x, y tableRow) int { return cmp.Or(strings.Compare(x.name, y.name), x.since-y.since) })
	return rows, nil
}

func tableValue(text string, want condition.Type) (condition.Value, error) {
	switch text {
	case "":
		return condition.Value{}, nil
	case "none":
		return condition.Nil, nil
	}
	return condition.FromText(text, want)
}

// row is the row of a name in a release, or nil.
func (t *table) row(name string, release int) []condition.Value {
	i, found := slices.BinarySearchFunc(t.rows, tableRow{name: name, since: release}, func(r, want tableRow) int {
		return cmp.Or(strings.Compare(r.name, want.name), r.since-want.since)
	})
	if !found {
		i--
	}
	if i < 0 || t.rows[i].name != name {
		return nil
	}
	return t.rows[i].values
}

// lookUp fills in the facts that nobody gave from the tables, as they are in the situation's release.
func (s *situation) lookUp() {
	for _, t := range s.library.tables {
		key := s.value(t.key)
		var values []condition.Value
		if key.Present() {
			values = t.row(key.String(), s.release)
		}
		for i, fact := range t.facts {
			if s.value(fact).Known() && !s.lookedUp[fact] {
				continue
			}
			var value condition.Value
			if values != nil {
				value = values[i]
			}
			s.Put(s.library.facts[fact].slot, value)
			s.lookedUp[fact] = value.Known()
		}
	}
}
