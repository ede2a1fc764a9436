package render

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
)

// The part of SARIF 2.1.0 that an answer needs, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool      `json:"tool"`
		Results []sarifResult  `json:"results"`
		More    map[string]any `json:"properties,omitempty"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Address string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Help  string    `json:"helpUri,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
		More         map[string]any    `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int        `json:"startLine"`
		Snippet   *sarifText `json:"snippet,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
)

// maxRelated bounds the evidence that a result lists beside its place.
const maxRelated = 20

// SARIF returns r in the form that code hosts and editors read. A result stands at the line of code when that lies in the workspace,
// else at that of the log; the other evidence is related to it.
func SARIF(r *report.Report, workspace string) ([]byte, error) {
	run := sarifRun{Results: []sarifResult{}, More: map[string]any{"knowledge": Line(r.Knowledge)}}
	run.Tool.Driver = sarifDriver{Name: "triage", Version: Line(r.Program), Address: "https://github.com/gpu-triage/triage", Rules: []sarifRule{}}
	index := make(map[string]int)
	for _, d := range r.Diagnoses {
		if _, met := index[d.ID]; !met {
			index[d.ID] = len(index)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(d))
		}
		run.Results = append(run.Results, sarifResultOf(d, index[d.ID], workspace))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
	return out.Bytes(), err
}

func sarifRuleOf(d report.Diagnosis) sarifRule {
	rule := sarifRule{ID: Line(d.ID), Short: sarifText{Line(d.Title)}}
	for _, reference := range d.References {
		if u, err := url.Parse(reference); err == nil && u.Scheme == "https" && u.Host != "" {
			rule.Help = u.String()
			break
		}
	}
	return rule
}

func sarifResultOf(d report.Diagnosis, index int, workspace string) sarifResult {
	level := "error"
	if d.Certainty == report.Unexplained {
		level = "warning"
	}
	result := sarifResult{RuleID: Line(d.ID), RuleIndex: index, Level: level, Message: sarifText{Line(d.Title) + "\n\n" + summary(d)},
		Fingerprints: map[string]string{"triage/v1": Line(d.ID)},
		More:         map[string]any{"certainty": d.Certainty, "ranks": orEmpty(d.Ranks)}}
	if at, ok := codeLine(d.Evidence, workspace); ok {
		result.Locations = []sarifLocation{sarifAt(at, "")}
	}
	met := make(map[location]bool) // the same place twice is not allowed
	for _, e := range d.Evidence[:min(len(d.Evidence), maxRelated)] {
		if met[location{e.Source, e.Line}] {
			continue
		}
		met[location{e.Source, e.Line}] = true
		at := sarifAt(logLine(e, workspace), clean(e.Text))
		if len(result.Locations) == 0 {
			result.Locations = []sarifLocation{at}
			continue
		}
		at.Message = &sarifText{place(e)}
		result.Related = append(result.Related, at)
	}
	return result
}

// sarifAt is a place with the text that stands there, if it is known.
func sarifAt(at location, text string) sarifLocation {
	file := at.file
	if file == "-" {
		file = "stdin"
	}
	address := (&url.URL{Path: file}).String() // "./a:b" for a name that would read as a scheme
	if strings.HasPrefix(file, "/") {
		address = (&url.URL{Scheme: "file", Path: file}).String()
	}
	l := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{address}, Region: sarifRegion{StartLine: max(at.line, 1)}}}
	if text != "" {
		l.Physical.Region.Snippet = &sarifText{text}
	}
	return l
}
