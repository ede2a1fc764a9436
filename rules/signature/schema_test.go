package signature

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"
)

// TestSchemaHasTheLoadersKeys keeps the schema that editors use at what the loader takes.
func TestSchemaHasTheLoadersKeys(t *testing.T) {
	content, err := os.ReadFile("../signature.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]struct {
			Items struct {
				Properties map[string]any
			}
		}
	}
	var schema object
	if err := json.Unmarshal(content, &schema); err != nil {
		t.Fatal(err)
	}
	compare := func(where string, of reflect.Type, has func(string) bool, count int) {
		var keys []string
		for i := range of.NumField() {
			keys = append(keys, of.Field(i).Tag.Get("yaml"))
		}
		for _, key := range keys {
			if !has(key) {
				t.Errorf("the schema lacks %s%s", where, key)
			}
		}
		if count != len(keys) {
			t.Errorf("the schema has %d keys in %q, the loader takes %d: %v", count, where, len(keys), slices.Sorted(slices.Values(keys)))
		}
	}
	file := reflect.TypeFor[signatureFile]()
	compare("", file, func(key string) bool { _, ok := schema.Properties[key]; return ok }, len(schema.Properties))
	for _, list := range []string{"details", "fixes", "examples"} {
		for i := range file.NumField() {
			if file.Field(i).Tag.Get("yaml") == list {
				inner := schema.Properties[list].Items.Properties
				compare(list+".", file.Field(i).Type.Elem(), func(key string) bool { _, ok := inner[key]; return ok }, len(inner))
			}
		}
	}
}

// TestSchemaHasTheRoles keeps the roles that editors offer at those that the loader takes.
func TestSchemaHasTheRoles(t *testing.T) {
	content, err := os.ReadFile("../signature.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties struct {
			Role struct{ Enum []Role }
		}
	}
	if err := json.Unmarshal(content, &schema); err != nil {
		t.Fatal(err)
	}
	want := []Role{Cause, Consequence, Generic, Unexplained, Inferred, Message, Noise, Progress, Command, Pace}
	if got := schema.Properties.Role.Enum; !slices.Equal(got, want) {
		t.Errorf("the schema has the roles %v, the loader takes %v", got, want)
	}
}
