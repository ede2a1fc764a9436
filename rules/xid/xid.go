// Package xid is the catalogue of xid.yaml: what the errors mean that NVIDIA's driver reports to the kernel's log, what an error speaks
// for, and what to do. Lines of the kernel's log go in; events, and what they mean in each other's light, come out.
package xid

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/gpu-triage/triage/rules/rulefile"
)

// File is the one file of a knowledge base that holds the catalogue of Xids.
const File = "xid.yaml"

// Catalogue tells what the errors mean that NVIDIA's driver reports to the kernel's log. A nil catalogue knows none.
type Catalogue struct {
	keyword string                 // stands in every line that reports an Xid
	tables  func() catalogueTables // read when first asked for
}

type catalogueTables struct {
	line    *regexp.Regexp
	xids    map[int]codeEntry
	actions map[string]string
	links   *regexp.Regexp
	errors  map[linkKey]linkError
}

// Event is one such line of the kernel's log.
type Event struct {
	GPU  string // its PCI address
	Code int
	Text string // what follows the code
}

// Meaning is what the catalogue says of an event.
type Meaning struct {
	Name     string
	Blame    Blame
	Bucket   string // NVIDIA's name for the immediate action
	Action   string // what to do now, "" when there is nothing to do
	Later    string // what to do if it comes again
	SubCode  *int   // of an NVLink error
	Severity string // of an NVLink error whose sub-code is known: fatal, link or non-fatal
}

// Blame is what an Xid speaks for.
type Blame string

// The blames, the gravest first.
const (
	BlameHardware    Blame = "hardware"
	BlameDriver      Blame = "driver"
	BlameApplication Blame = "application"
	BlameConsequence Blame = "consequence" // of another Xid
	BlameInformation Blame = "information"
)

var blames = []Blame{BlameHardware, BlameDriver, BlameApplication, BlameConsequence, BlameInformation}

// Graver tells whether b weighs more than other.
func (b Blame) Graver(other Blame) bool { return slices.Index(blames, b) < slices.Index(blames, other) }

type codeEntry struct {
	Code   int           `yaml:"code"`
	Name   string        `yaml:"name"`
	Blame  rulefile.Text `yaml:"blame"`
	Now    rulefile.Text `yaml:"now"`
	Later  rulefile.Text `yaml:"later"`
	Solo   rulefile.Text `yaml:"solo"`
	Action rulefile.Text `yaml:"action"`

	pattern *regexp.Regexp // Action compiled
}

type linkError struct {
	Xid      int           `yaml:"xid"`
	Unit     string        `yaml:"unit"`
	SubCode  int           `yaml:"subcode"`
	Status   string        `yaml:"status"`
	Now      rulefile.Text `yaml:"now"`
	Later    rulefile.Text `yaml:"later"`
	Severity string        `yaml:"severity"`
	Blame    rulefile.Text `yaml:"blame"`
}

type linkKey struct {
	xid     int
	unit    string
	subCode int
	status  uint64
}

type catalogueFile struct {
	Actions map[string]string `yaml:"actions"`
	Line    struct {
		Keyword string        `yaml:"keyword"`
		Pattern rulefile.Text `yaml:"pattern"`
	} `yaml:"line"`
	Xids  []codeEntry `yaml:"xids"`
	Links struct {
		Pattern rulefile.Text `yaml:"pattern"`
		Errors  []linkError   `yaml:"errors"`
	} `yaml:"links"`
}

// Read reads the catalogue, or leaves that to the first question when its keyword is known already.
func Read(d *rulefile.Decoder, content []byte, known string) *Catalogue {
	if known != "" {
		return &Catalogue{keyword: known, tables: sync.OnceValue(func() catalogueTables {
			_, tables := parse(&rulefile.Decoder{}, content)
			return tables
		})}
	}
	d.File = File
	keyword, tables := parse(d, content)
	return &Catalogue{keyword: keyword, tables: func() catalogueTables { return tables }}
}

func parse(d *rulefile.Decoder, content []byte) (keyword string, c catalogueTables) {
	file, _ := rulefile.Read[catalogueFile](d, content)
	c = catalogueTables{actions: file.Actions, xids: make(map[int]codeEntry), errors: make(map[linkKey]linkError)}
	c.line = valuePattern(d, file.Line.Pattern, "gpu", "code", "text")
	for _, e := range file.Xids {
		e.pattern = valuePattern(d, e.Action)
		checkTexts(d, file.Actions, e.Blame, e.Now, e.Later, e.Solo)
		c.xids[e.Code] = e
	}
	c.links = valuePattern(d, file.Links.Pattern, "unit", "intrinfo", "status")
	for _, e := range file.Links.Errors {
		status, err := strconv.ParseUint(e.Status, 0, 64)
		if err != nil {
			d.Problem(e.Now.Line, 1, "the status %q is not a number", e.Status)
		}
		checkTexts(d, file.Actions, e.Blame, e.Now, e.Later)
		c.errors[linkKey{e.Xid, e.Unit, e.SubCode, status}] = e
	}
	if c.line == nil {
		return "", c
	}
	return file.Line.Keyword, c
}

// valuePattern compiles a pattern that must have the groups, by default "value"; an empty text has none.
func valuePattern(d *rulefile.Decoder, t rulefile.Text, groups ...string) *regexp.Regexp {
	if t.Value == "" {
		return nil
	}
	pattern, err := regexp.Compile(t.Value)
	if err != nil {
		d.Problem(t.Line, t.Column, "%v", err)
		return nil
	}
	if len(groups) == 0 {
		groups = []string{"value"}
	}
	for _, group := range groups {
		if pattern.SubexpIndex(group) < 0 {
			d.Problem(t.Line, t.Column, "the pattern needs a group (?P<%s>…)", group)
			return nil
		}
	}
	return pattern
}

// checkTexts notes blames and actions that the catalogue does not have.
func checkTexts(d *rulefile.Decoder, actions map[string]string, blame rulefile.Text, buckets ...rulefile.Text) {
	if !slices.Contains(blames, Blame(blame.Value)) {
		d.Problem(blame.Line, blame.Column, "unknown blame %q", blame.Value)
	}
	for _, bucket := range buckets {
		if bucket.Value != "" && actions[bucket.Value] == "" {
			d.Problem(bucket.Line, bucket.Column, "the action %q is not explained under actions", bucket.Value)
		}
	}
}

// Keyword is a literal that stands in every line that Parse understands, "" for a catalogue without one.
func (c *Catalogue) Keyword() string {
	if c == nil {
		return ""
	}
	return c.keyword
}

// Parse reads a line of the kernel's log; ok tells whether it reports an Xid.
func (c *Catalogue) Parse(line string) (event Event, ok bool) {
	if c.Keyword() == "" {
		return event, false
	}
	pattern := c.tables().line
	parts := pattern.FindStringSubmatch(line)
	if parts == nil {
		return event, false
	}
	event.GPU, event.Text = parts[pattern.SubexpIndex("gpu")], parts[pattern.SubexpIndex("text")]
	event.Code, _ = strconv.Atoi(parts[pattern.SubexpIndex("code")]) // its digits are few
	return event, true
}

// Tell says in one phrase what happened to which GPU and what to do.
func (m Meaning) Tell(code int, gpu string) string {
	text := fmt.Sprintf("Xid %d (%s) on %s", code, m.Name, gpu)
	if m.Severity != "" {
		text += ", " + m.Severity
	}
	if m.Action != "" {
		text += ": " + m.Action
	}
	return text
}

// Explain says what each event means, in the light of the others: some Xids mean something else when they come alone.
func (c *Catalogue) Explain(events []Event) []Meaning {
	meanings := make([]Meaning, len(events))
	if c == nil || len(events) == 0 {
		return meanings
	}
	tables := c.tables()
	for i, event := range events {
		meanings[i] = tables.explain(event, events)
	}
	return meanings
}

func (c *catalogueTables) explain(event Event, events []Event) Meaning {
	entry, known := c.xids[event.Code]
	if !known {
		return Meaning{Blame: BlameDriver, Name: "not in the catalogue of 2025-10-29"}
	}
	m := Meaning{Name: entry.Name, Blame: Blame(entry.Blame.Value), Bucket: entry.Now.Value, Later: c.actions[entry.Later.Value]}
	other := func(e Event) bool { return e.GPU == event.GPU && e.Code != event.Code }
	if entry.Solo.Value != "" && !slices.ContainsFunc(events, other) {
		m.Bucket = entry.Solo.Value
	}
	c.link(event, &m)
	m.Action = c.actions[m.Bucket]
	if m.Bucket == "IGNORE" {
		m.Action = ""
	}
	if entry.pattern != nil {
		if parts := entry.pattern.FindStringSubmatch(event.Text); parts != nil {
			m.Action = parts[entry.pattern.SubexpIndex("value")]
		}
	}
	return m
}

// link refines the meaning of an NVLink error by its unit, sub-code and status.
func (c *catalogueTables) link(event Event, m *Meaning) {
	if c.links == nil {
		return
	}
	parts := c.links.FindStringSubmatch(event.Text)
	if parts == nil {
		return
	}
	info, err1 := strconv.ParseUint(parts[c.links.SubexpIndex("intrinfo")], 0, 64)
	status, err2 := strconv.ParseUint(parts[c.links.SubexpIndex("status")], 0, 64)
	if err1 != nil || err2 != nil {
		return
	}
	key := linkKey{event.Code, parts[c.links.SubexpIndex("unit")], int(info >> 20 & 0x3f), status}
	entry, known := c.errors[key]
	if !known {
		return
	}
	m.SubCode, m.Severity, m.Bucket = &key.subCode, entry.Severity, entry.Now.Value
	m.Blame, m.Later = Blame(entry.Blame.Value), c.actions[entry.Later.Value]
}
