package tool_test

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/tool"
)

// No row may be hidden by one that is asked before it.
func TestExamples(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(base.Tools.Rows()) == 0 {
		t.Fatal("no tools are known")
	}
	for _, want := range base.Tools.Rows() {
		for _, row := range base.Tools.Rows() {
			if !row.Pattern.Matches(want.Example) {
				continue
			}
			if row != want {
				t.Errorf("%s, %s: %q is known as %s of %s", want.Tool.Name, want.Kind, want.Example, row.Kind, row.Tool.Name)
			}
			break
		}
	}
}

func TestMistakes(t *testing.T) {
	d := &rulefile.Decoder{}
	tool.Read(d, []byte(`tools:
  - tool: cc
    class: compile
    source: a run
    error:
      - {pattern: '^error:', example: 'warning: x'}
      - {pattern: '^(', example: 'x'}
    weak:
      - {pattern: '^x', example: 'x', lines: 99}
  - tool: nothing
`))
	told := d.Problems.Error()
	for _, want := range []string{"tools.yaml:6:20", "does not match its example", "tools.yaml:7:", "between 0 and", "needs tool:, class: and source:"} {
		if !strings.Contains(told, want) {
			t.Errorf("the problems do not say %q: %s", want, told)
		}
	}
}

func TestLayers(t *testing.T) {
	read := func(name string) *tool.Table {
		return tool.Read(&rulefile.Decoder{}, []byte("tools:\n  - {tool: "+name+", class: any, source: a run, weak: [{pattern: '^x', example: x}]}\n"))
	}
	var none *tool.Table
	rows := read("mine").Before(read("theirs").Before(none)).Rows()
	if len(rows) != 2 || rows[0].Tool.Name != "mine" {
		t.Errorf("%d rows, the first of %s", len(rows), rows[0].Tool.Name)
	}
}
