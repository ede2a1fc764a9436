package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/fact"
)

// Schema names the version of the JSON form of a machine's facts.
const Schema = "triage.facts/v1"

// Document is a machine's facts as `triage facts --format json` prints them and `--facts` reads them back.
type Document struct {
	Schema  string             `json:"schema"`
	Facts   []report.FactValue `json:"facts"`
	Machine *Machine           `json:"machine,omitempty"`
}

// maxDocument bounds a facts file, in bytes.
const maxDocument = 16 << 20

// Document is the machine in its JSON form.
func (m *Machine) Document(vocabulary *fact.Vocabulary) Document {
	return Document{Schema: Schema, Facts: m.Facts(vocabulary), Machine: m}
}

// ParseDocument reads what `triage facts --format json` printed, or a plain object of facts and values, as a person writes it. The
// facts keep their source, which for a plain object is "user". Facts that this version does not know are named in the error, which
// then comes with the others.
func ParseDocument(data []byte, vocabulary *fact.Vocabulary) (Document, error) {
	if len(data) > maxDocument {
		return Document{}, fmt.Errorf("the file is larger than %d MiB", maxDocument>>20)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return Document{}, jsonError(data, err)
	}
	var document Document
	if _, ok := fields["schema"]; ok {
		if err := json.Unmarshal(data, &document); err != nil {
			return Document{}, jsonError(data, err)
		}
		if document.Schema != Schema {
			return Document{}, fmt.Errorf("the schema is %q, not %q", document.Schema, Schema)
		}
	} else {
		if nested, ok := fields["facts"]; ok && len(fields) == 1 {
			fields = nil
			if err := json.Unmarshal(nested, &fields); err != nil {
				return Document{}, jsonError(data, err)
			}
		}
		for name, raw := range fields {
			fact := report.FactValue{Name: name, Source: "user"}
			if err := json.Unmarshal(raw, &fact.Value); err != nil {
				return Document{}, err
			}
			document.Facts = append(document.Facts, fact)
		}
	}
	return document, document.check(vocabulary)
}

// check drops the facts that the vocabulary does not take and names them.
func (d *Document) check(vocabulary *fact.Vocabulary) error {
	var wrong []error
	d.Facts = slices.DeleteFunc(d.Facts, func(fact report.FactValue) bool {
		if _, err := vocabulary.FromJSON(fact.Name, fact.Value); err != nil && fact.Value != nil {
			wrong = append(wrong, err)
			return true
		}
		return false
	})
	slices.SortFunc(d.Facts, func(a, b report.FactValue) int { return strings.Compare(a.Name, b.Name) })
	return errors.Join(wrong...)
}

// jsonError adds the line and column to an error of encoding/json.
func jsonError(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	if errors.As(err, &syntax) {
		at = syntax.Offset
	} else if errors.As(err, &kind) {
		at = kind.Offset
	}
	if at < 0 || at > int64(len(data)) {
		return err
	}
	before := string(data[:at])
	return fmt.Errorf("line %d, column %d: %w", 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n'), err)
}

// Within is the machine with only those kernel messages that came between the two moments; a zero moment is no bound. Messages
// without a time are kept.
func (m *Machine) Within(from, to time.Time) *Machine {
	inside := func(t time.Time) bool {
		return t.IsZero() || (from.IsZero() || !t.Before(from)) && (to.IsZero() || !t.After(to))
	}
	clone := *m
	clone.Xids = slices.DeleteFunc(slices.Clone(m.Xids), func(x Xid) bool { return !inside(x.Time) })
	clone.OOMKills = slices.DeleteFunc(slices.Clone(m.OOMKills), func(k OOMKill) bool { return !inside(k.Time) })
	clone.Kernel = slices.DeleteFunc(slices.Clone(m.Kernel), func(l KernelLine) bool { return !inside(l.Time) })
	return &clone
}

// KernelLog is the kernel's messages as `dmesg --time-format=iso` prints them.
func (m *Machine) KernelLog() string {
	var text strings.Builder
	for _, line := range m.Kernel {
		if !line.Time.IsZero() {
			text.WriteString(line.Time.Format("2006-01-02T15:04:05.000000-07:00 "))
		}
		text.WriteString(line.Text + "\n")
	}
	return text.String()
}

// Then joins what a machine said before a job with what it says after it: what it says now, without the kernel's messages of
// before, and whoever held more GPU memory then than anybody does now, since they may have left meanwhile.
func (m *Machine) Then(after *Machine) *Machine {
	joined := *after
	joined.Kernel = slices.DeleteFunc(slices.Clone(after.Kernel), func(l KernelLine) bool {
		return !l.Time.IsZero() && slices.ContainsFunc(m.Kernel, func(old KernelLine) bool { return old.Text == l.Text && old.Time.Equal(l.Time) })
	})
	joined.Xids = slices.DeleteFunc(slices.Clone(after.Xids), func(x Xid) bool {
		return !x.Time.IsZero() && slices.ContainsFunc(m.Xids, func(old Xid) bool { return old.Text == x.Text && old.Time.Equal(x.Time) })
	})
	joined.OOMKills = slices.DeleteFunc(slices.Clone(after.OOMKills), func(k OOMKill) bool {
		return !k.Time.IsZero() && slices.ContainsFunc(m.OOMKills, func(old OOMKill) bool { return old.PID == k.PID && old.Time.Equal(k.Time) })
	})
	joined.GPUs = slices.Clone(after.GPUs)
	for i, now := range joined.GPUs {
		at := slices.IndexFunc(m.GPUs, func(g GPU) bool { return g.UUID == now.UUID })
		if at < 0 || now.Memory.UsedMiB == nil {
			continue
		}
		if then := m.GPUs[at]; then.held() > now.held()+unlisted {
			joined.GPUs[i].Memory, joined.GPUs[i].Processes = then.Memory, then.Processes
		}
	}
	return &joined
}

// held is the memory in MiB that processes other than the job's use.
func (g GPU) held() float64 {
	used := known(g.Memory.UsedMiB)
	for _, p := range g.Processes {
		if p.Own {
			used -= known(p.MemoryMiB)
		}
	}
	return used
}
