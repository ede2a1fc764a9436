package render

import (
	"fmt"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
)

// What an annotation on GitHub gets: longer ones are cut there without a word, and more than ten of a step are not shown.
const (
	annotationLength = 3000
	annotations      = 10
)

// GitHub returns r as workflow commands, which GitHub Actions shows as annotations: on the line of code when that lies in the workspace,
// else on that of the log. https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
func GitHub(r *report.Report, workspace string) string {
	if len(r.Diagnoses) == 0 {
		return "::notice title=triage::" + escapeData(silence(r)) + "\n"
	}
	var out strings.Builder
	for _, d := range r.Diagnoses[:min(len(r.Diagnoses), annotations)] {
		level := "error"
		if d.Certainty == report.Unexplained {
			level = "warning"
		}
		properties := []string{"title=" + escapeProperty(cut(Line(d.Title), 200))}
		if at, ok := placeOf(d, workspace); ok {
			properties = append(properties, "file="+escapeProperty(at.file), fmt.Sprintf("line=%d", at.line))
		}
		fmt.Fprintf(&out, "::%s %s::%s\n", level, strings.Join(properties, ","), escapeData(cut(summary(d), annotationLength)))
	}
	return out.String()
}

// placeOf is where an annotation of a diagnosis belongs.
func placeOf(d report.Diagnosis, workspace string) (location, bool) {
	if at, ok := codeLine(d.Evidence, workspace); ok {
		return at, true
	}
	if len(d.Evidence) == 0 || d.Evidence[0].Source == "-" {
		return location{}, false
	}
	return logLine(d.Evidence[0], workspace), true
}

// Annotation is a diagnosis at a line of code, as a code host shows it.
type Annotation struct {
	File           string // as the repository calls it
	Line           int
	Title, Message string
	Certain        bool // else it is only what failed, or a likely cause
}

// Annotations are the diagnoses of r that have a frame in a repository, each at that frame, of several at one line the first. Inside tells
// what a file of a frame is called there, and whether it is there.
func Annotations(r *report.Report, inside func(file string) (string, bool)) []Annotation {
	var all []Annotation
	met := make(map[location]bool)
	for _, d := range r.Diagnoses {
		if at, ok := codeLineIn(d.Evidence, inside); ok && at.line > 0 && !met[at] {
			met[at] = true
			all = append(all, Annotation{at.file, at.line, cut(Line(d.Title), 200), cut(summary(d), annotationLength), d.Certainty == report.Confirmed})
		}
	}
	return all
}

// summary is a diagnosis in plain paragraphs: the line that shows it, the cause, and the best fix.
func summary(d report.Diagnosis) string {
	var parts []string
	if who := spread(d); who != "" {
		parts = append(parts, who)
	}
	if len(d.Evidence) > 0 {
		parts = append(parts, place(d.Evidence[0])+": "+cut(Line(d.Evidence[0].Text), 400))
	}
	if cause := strings.TrimSpace(clean(d.Cause)); cause != "" {
		parts = append(parts, cause)
	}
	if len(d.Fixes) > 0 {
		parts = append(parts, strings.Join(append([]string{"Fix: " + sentence(d.Fixes[0].Do)}, cleaned(d.Fixes[0].Run)...), "\n"))
	}
	return strings.Join(parts, "\n\n")
}

func cleaned(lines []string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, clean(line))
	}
	return all
}

// Without these, a log could give commands of its own.
var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace
)
