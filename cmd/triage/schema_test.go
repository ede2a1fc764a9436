package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// TestReportsFollowTheSchema: reports of real logs are valid, and one of another shape is not.
func TestReportsFollowTheSchema(t *testing.T) {
	schema := reportSchema(t)
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for _, name := range someLogs(t, 60) {
		log, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		job := engine.Begin()
		if err := job.Read(t.Context(), name, log); err != nil {
			t.Fatal(err)
		}
		answer := job.Report()
		if err := resolved.Validate(decoded(t, &answer)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := &report.Report{Schema: report.Schema, Diagnoses: []report.Diagnosis{{Certainty: "surely"}}}
	if resolved.Validate(decoded(t, wrong)) == nil {
		t.Error("a certainty that does not exist is valid")
	}
}

// someLogs are n of the logs below testdata, or a few more, spread over all.
func someLogs(t *testing.T, n int) (logs []string) {
	t.Helper()
	err := filepath.WalkDir("../../testdata/logs", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".log" {
			logs = append(logs, name)
		}
		return err
	})
	if err != nil || len(logs) < n {
		t.Fatal(len(logs), err)
	}
	var some []string
	for i := 0; i < len(logs); i += len(logs) / n {
		some = append(some, logs[i])
	}
	return some
}

func decoded(t *testing.T, r *report.Report) (value any) {
	t.Helper()
	text, err := render.JSON(r)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func reportSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema := new(jsonschema.Schema)
	if err := json.Unmarshal(report.JSONSchema, schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestSchemaHasEveryMember: a field that is added to a report is added to its schema, and one that is always there is required.
func TestSchemaHasEveryMember(t *testing.T) {
	schema := reportSchema(t)
	for name, value := range map[string]any{"": report.Report{}, "diagnosis": report.Diagnosis{}, "evidence": report.Evidence{}, "fact": report.FactValue{},
		"missing": report.Missing{}, "backend": report.Backend{}, "backendRule": report.BackendRule{}, "fix": report.Fix{},
		"consequence": report.Consequence{}, "rankState": report.RankState{}, "moment": report.Moment{}, "stats": report.Stats{}} {
		part := schema
		if name != "" {
			part = schema.Defs[name]
		}
		var all, always []string
		for _, field := range reflect.VisibleFields(reflect.TypeOf(value)) {
			member, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			all = append(all, member)
			if !strings.Contains(options, "omitempty") {
				always = append(always, member)
			}
		}
		described := make([]string, 0, len(part.Properties))
		for member := range part.Properties {
			described = append(described, member)
		}
		for _, list := range [][]string{all, always, described, part.Required} {
			slices.Sort(list)
		}
		if diff := cmp.Diff(all, described); diff != "" {
			t.Errorf("%s: -in Go +in the schema:\n%s", name, diff)
		}
		if diff := cmp.Diff(always, part.Required); diff != "" {
			t.Errorf("%s is required: -in Go +in the schema:\n%s", name, diff)
		}
	}
}

func TestSchemaIsPrinted(t *testing.T) {
	var out bytes.Buffer
	if status := run(t.Context(), []string{"schema"}, streams{out: &out, err: &out, env: os.Getenv}); status != 0 || !json.Valid(out.Bytes()) {
		t.Errorf("%d: %s", status, out.String())
	}
}
