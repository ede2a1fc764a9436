package prefilter

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/logline/loglinetest"
	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/matcher/scan/corpus"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/pattern"
)

const docker = `{"log":"` // how Docker's json-file driver begins a line

var dockerQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\u0009`, "<", `\u003c`, ">", `\u003e`, "&", `\u0026`)

// A line is wanted or not whatever its numbers are, behind every prefix.
func TestTemplatesAreWanted(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	source := New(base).Source(logline.Sniff("", nil), make(Found, len(base.Scope.LogPatterns())))
	prefixes := []string{"", "2026-11-19T03:00:00.123Z ", "2026-01-19T03:00:00+01:00 stdout F ", "[rank31]: ", "[default7]:", "I0000 00:00:1712345678.123 123 file.cc:12] ",
		"I0000 10:20:17.123 123 file.cc:12] ", "[1,15]<stdout>:", docker, "(Worker pid=12, ip=10.0.0.1) ", "trainer-1  | ", "0012-steps/0 [default6]:", "2026-04-29 06:01:12.977 [177/train/578 (pid 28936)] ",
		"2026-03-01 10:11:12,123 - name - ERROR - ", "03-01 10:11:12 ", "[2026-12-07 09:57:19,206 E 393463 393463] (raylet) file.cc:3277: ", "node-12: ", "12: ", "host-1:4711:4712 [3] NCCL WARN "}
	rnd := rand.New(rand.NewPCG(3, 1))
	kept, left := 0, 0
	for i, line := range loggedLines(t) {
		if i%3 > 0 {
			continue
		}
		if prefix := prefixes[i%len(prefixes)]; prefix == docker {
			line = prefix + dockerQuotes.Replace(line) + `\n","stream":"stderr","time":"2026-03-06T02:16:52.7125Z"}`
		} else {
			line = prefix + line
		}
		if _, ok := lineTemplate(nil, []byte(line)); !ok {
			continue
		}
		wanted, ok := wants(source, line)
		for range 2 {
			other := loglinetest.Renumbered(rnd, line)
			again, too := wants(source, other)
			if ok && too && again != wanted {
				t.Fatalf("%v: %q\n%v: %q", wanted, line, again, other)
			}
		}
		if wanted {
			kept++
		} else if ok {
			left++
		}
	}
	if kept < 100 || left < 100 {
		t.Errorf("%d lines were wanted, %d were not", kept, left)
	}
}

// The templates of lines that may have a literal with a number are known, whatever number such a line has.
func TestNumberedTemplates(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	e, rnd, numbers := New(base), rand.New(rand.NewPCG(7, 1)), 0
	for _, l := range e.Literals() {
		line := "2026-03-01 trainer: " + strings.TrimSuffix(l.Text, "\n")
		if !strings.HasSuffix(l.Text, "\n") {
			line += " of 17"
		}
		template, ok := lineTemplate(nil, []byte(loglinetest.Renumbered(rnd, line)))
		if !ok || pattern.IgnoresNumbers(l.Text) {
			continue
		}
		numbers++
		if !e.mayHaveNumbered(template) {
			t.Errorf("%q may be of the template %q", l.Text, template)
		}
	}
	if template, _ := lineTemplate(nil, []byte("2026-03-01 trainer: step 17")); numbers < 50 || e.mayHaveNumbered(template) {
		t.Errorf("%d literals with numbers were tried; one of them may be in %q", numbers, template)
	}
}

// wants tells whether somebody wants a line that nothing is known of, and whether that says something of its template.
func wants(s *Source, line string) (wanted, ok bool) {
	f := s.filter
	var literals []int32
	f.lines.Lines([]byte(line), func(hit scan.Hit) bool {
		literals = slices.Clone(hit.IDs)
		return true
	})
	template, _ := pattern.LineTemplate(nil, []byte(line))
	numbered := f.mayHaveNumbered(template)
	return len(literals) > 0 && s.wanted([]byte(line), literals), len(literals) > 0 && !numbered
}

// loggedLines are the lines of all logs of the repository, and of the examples that stand with the signatures.
func loggedLines(t *testing.T) (lines []string) {
	t.Helper()
	for _, folder := range []string{"../../testdata/logs", "../../rules/failures"} {
		before := len(lines)
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".log" && filepath.Ext(path) != ".yaml" {
				return err
			}
			content, err := os.ReadFile(path)
			log := string(content)
			if filepath.Ext(path) == ".yaml" {
				_, log, _ = strings.Cut(log, "\nexamples:\n")
				log = strings.ReplaceAll(log, "\n      ", "\n")
			}
			lines = append(lines, strings.Split(log, "\n")...)
			return err
		})
		if err != nil || len(lines)-before < 1000 {
			t.Fatalf("%d lines in %s: %v", len(lines)-before, folder, err)
		}
	}
	return lines
}

// What is known of one template does not spread to another that has its place.
func TestTemplatesAreToldApart(t *testing.T) {
	known := newTemplateSet()
	rnd := rand.New(rand.NewPCG(4, 1))
	for range 20 * templateCount {
		template := make([]byte, 12)
		for i := range template {
			template[i] = byte('a' + rnd.IntN(26))
		}
		if known.has(template) {
			t.Fatalf("%s is known already", template)
		}
		if known.add(template); !known.has(template) {
			t.Fatalf("%s is forgotten at once", template)
		}
	}
}

// A log in which every line nearly matches leaves hardly any line to the reading.
func TestNearMissesAreLeft(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	patterns := base.Scope.LogPatterns()
	source := New(base).Source(logline.Sniff("", nil), make(Found, len(patterns)))
	var log bytes.Buffer
	if err := corpus.Write(&log, 30_000, corpus.Adversarial, 2); err != nil {
		t.Fatal(err)
	}
	lines, kept := 0, 0
	for line := range strings.Lines(log.String()[:30_000]) {
		lines++
		if wanted, _ := wants(source, strings.TrimSuffix(line, "\n")); wanted {
			kept++
		}
		for i, p := range patterns { // as the reading notes it: nobody asks for a second one
			if p.Matches(line) {
				source.found.Add(i)
			}
		}
	}
	if lines < 200 || kept > lines/6 {
		t.Errorf("%d of %d lines are kept", kept, lines)
	}
}
