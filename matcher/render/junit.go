package render

import (
	"encoding/xml"
	"fmt"

	"github.com/gpu-triage/triage/matcher/report"
)

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit returns r as a JUnit report, which most CI systems show: a failed test for each diagnosis, or one that passed. It has the form
// that https://github.com/testmoapp/junitxml describes.
func JUnit(r *report.Report) ([]byte, error) {
	took := fmt.Sprintf("%.3f", float64(r.Stats.ElapsedMS)/1000)
	var cases []junitCase
	for _, d := range r.Diagnoses {
		text := Text(&report.Report{Diagnoses: []report.Diagnosis{d}}, Style{})
		failure := &junitFailure{Message: Line(d.Title), Type: Line(d.ID), Text: text}
		cases = append(cases, junitCase{Class: "triage." + string(d.Certainty), Name: Line(d.ID), Time: "0", Failure: failure})
	}
	failures := len(cases)
	if failures == 0 {
		cases = []junitCase{{Class: "triage", Name: "no failure", Time: "0", Out: silence(r)}}
	}
	suite := junitSuite{Name: "triage", Tests: len(cases), Failures: failures, Time: took, Cases: cases,
		Properties: []junitProperty{{"triage", Line(r.Program)}, {"knowledge", Line(r.Knowledge)}}}
	text, err := xml.MarshalIndent(junitSuites{Name: "triage", Tests: len(cases), Failures: failures, Suite: suite}, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}
