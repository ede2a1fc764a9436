package kind

import (
	"regexp"

	"github.com/gpu-triage/triage/rules/pattern"
)

// summary is how a program that runs tests ends its report when none failed.
type summary struct {
	line  func() *regexp.Regexp // of the summary
	fails func() *regexp.Regexp // a line that tells of a failure; nil: the summary counts failures itself
	start func() *regexp.Regexp // a line that only such a report has; nil: the summary is enough
}

var summaries = []summary{
	{line: pattern.Lazy(`^=+ (?:\d+ (?:passed|skipped|deselected|xfailed|xpassed|warnings?|rerun)(?:, )?)+ in [\d.]+s.*=+$`)},               // pytest
	{line: pattern.Lazy(`^(?:\d+ (?:passed|skipped|deselected|xfailed|xpassed|warnings?|rerun)(?:, )?)*\b\d+ passed\b[\w, ]* in [\d.]+s$`)}, // pytest -q
	{line: pattern.Lazy(`^100% tests passed, 0 tests failed out of \d+`)},                                                                   // ctest
	{
		line: pattern.Lazy(`^OK(?: \([\w=, ]+\))?$`), start: pattern.Lazy(`^Ran \d+ tests? in [\d.]+s`), // unittest
		fails: pattern.Lazy(`^(?:FAILED|FAIL:|ERROR:) ?`),
	},
	{
		line: pattern.Lazy(`^\[  PASSED  \] \d+ tests?`), start: pattern.Lazy(`^\[==========\] `), // gtest
		fails: pattern.Lazy(`^\[  FAILED  \]`),
	},
	{
		line: pattern.Lazy(`^(?:ok\s+\S+\s+(?:[\d.]+s|\(cached\))|PASS$|\?\s+\S+\s+\[no test files\])`), start: pattern.Lazy(`^(?:=== RUN |\s*--- PASS|ok\s+\S+\s+[\d.]+s|ok\s+\S+\s+\(cached\))`), // go test
		fails: pattern.Lazy(`^(?:FAIL\b|\s*--- FAIL|panic: )`),
	},
	{
		line: pattern.Lazy(`^(?:ok \d+\b|1\.\.\d+$|# (?:fail|failed|failures) +0$|# (?:pass|tests|skip|todo|duration_ms|cancelled)\b)`), start: pattern.Lazy(`^(?:TAP version \d+|1\.\.\d+|ok \d+ )`), // TAP
		fails: pattern.Lazy(`^\s*not ok \d+(?:.*# (?:TODO|SKIP)){0}|^Bail out!|^# (?:fail|failed|failures) +[1-9]`),
	},
	{
		line: pattern.Lazy(`^ℹ (?:pass|fail|skipped|todo|duration_ms|cancelled) [\d.]+$`), start: pattern.Lazy(`^ℹ fail 0$`), // node --test
		fails: pattern.Lazy(`^ℹ fail [1-9]`),
	},
	{
		line: pattern.Lazy(`^test result: ok\. \d+ passed; 0 failed`), start: pattern.Lazy(`^running \d+ tests?$`), // cargo test
		fails: pattern.Lazy(`^test result: FAILED|^test \S+ \.\.\. FAILED|^error: test failed`),
	},
	{
		line:  pattern.Lazy(`^Tests:\s+(?:\d+ (?:skipped|todo), )*\d+ passed, \d+ total|^Test(?: Files|s)\s+\d+ passed|^\s*\d+ passing \(`), // jest, vitest, mocha
		fails: pattern.Lazy(`^(?:Tests|Test Suites):.*\d+ failed|^\s*\d+ failing|^\s*(?:Test Files|Tests)\s+\d+ failed`),
	},
}

var (
	junit       = pattern.Lazy(`^\s*(?:<\?xml[^>]*>\s*)?<testsuites?\b`)
	junitFailed = pattern.Lazy(`<(?:failure|error)\b|\b(?:failures|errors)="[1-9]`)
)

// junitPassed tells whether the text is a report in the form of JUnit in which no test failed.
func (t *text) junitPassed() bool {
	return t.Whole && junit().Match(t.Head) && !junitFailed().Match(t.Head)
}

// afterSummary is how many lines may follow a summary: notes about coverage, and what a shell or a CI system says at the end.
const afterSummary = 30

// testsEnd is the number of the line with which a report of tests ends in which none failed, 0 when the text has none.
func testsEnd(t *text) int {
	end := t.last
	if len(end) == 0 {
		end = t.head
	}
	for i := len(end) - 1; i >= max(0, len(end)-afterSummary); i-- {
		for n := range summaries {
			if s := &summaries[n]; s.line().MatchString(end[i]) && s.passed(t) {
				return t.Lines - (len(end) - 1 - i)
			}
		}
	}
	return 0
}

// passed tells whether no test failed in a text with such a summary. What a summary does not count must be looked for in all lines.
func (s *summary) passed(t *text) bool {
	if s.fails == nil {
		return true
	}
	started := s.start == nil
	for _, line := range t.all() {
		if s.fails().MatchString(line) {
			return false
		}
		started = started || s.start().MatchString(line)
	}
	return started && t.Whole
}
