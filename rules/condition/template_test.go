package condition

import (
	"strings"
	"testing"
)

func TestFill(t *testing.T) {
	scope := NewScope()
	for _, name := range []string{"path", "folder", "count"} {
		scope.Declare(name, Shape{Type: String})
	}
	for _, c := range []struct{ template, known, unknown string }{
		{"It is {path}.", "It is /data.", ""},
		{"It is {path|gone}.", "It is /data.", "It is gone."},
		{"It failed. It is {path}. Look there.", "It failed. It is /data. Look there.", "It failed. Look there."},
		{"It failed[[ in {path}]] early.", "It failed in /data early.", "It failed early."},
		{"It is {folder, path}.", "It is /data.", ""},
		{"It is {folder, count|gone}.", "It is gone.", "It is gone."},
		{"Use 2.6. {path} is old.", "Use 2.6. /data is old.", "Use 2.6."},
		{"Run `ls. {path}` now. Then wait.", "Run `ls. /data` now. Then wait.", "Then wait."},
		{"Run `ls -l {path}` now.", "Run `ls -l /data` now.", ""},
		{"It is `{path}`. See `{path} or so`.", "It is `/data`. See `/data or so`.", ""},
		{"A {brace and [[ no end {path", "A {brace and [[ no end {path", "A {brace and [[ no end {path"},
	} {
		nothing, situation := scope.NewSituation(), scope.NewSituation()
		situation.Set("path", StringValue("/data"))
		if got := ParseTemplate(c.template).Fill(situation); got != c.known {
			t.Errorf("%q is filled as %q, not %q", c.template, got, c.known)
		}
		if got := ParseTemplate(c.template).Fill(nothing); got != c.unknown {
			t.Errorf("%q with nothing known is filled as %q, not %q", c.template, got, c.unknown)
		}
	}
}

// TestFillLong: what stands behind the dump of a list is said, and the dump is not.
func TestFillLong(t *testing.T) {
	scope := NewScope()
	scope.Declare("message", Shape{Type: String})
	dump := "{'a': [" + strings.Repeat("{'GPU': 1.0}, ", 40) + "]}"
	for _, c := range []struct{ message, want string }{
		{"bundles " + dump + ". Not enough GPUs [2].", "bundles {…}. Not enough GPUs [2]."},
		{"short [" + strings.Repeat("1, ", 40) + "]", "short [" + strings.Repeat("1, ", 40) + "]"},
		{"] no [ end " + strings.Repeat("word ", 80), "] no [ end " + strings.Repeat("word ", 57) + "…"},
	} {
		situation := scope.NewSituation()
		situation.Set("message", StringValue(c.message))
		if got := ParseTemplate("{message}").Fill(situation); got != c.want {
			t.Errorf("%q is filled as %q, not %q", c.message, got, c.want)
		}
	}
}

// TestFillCommandInSentence: a log's values are quoted in a command between backticks too, and nowhere else.
func TestFillCommandInSentence(t *testing.T) {
	scope := NewScope()
	scope.Declare("path", Shape{Type: String})
	situation := scope.NewSituation()
	situation.Set("path", StringValue("/a; id"))
	template := ParseTemplate("It is `{path}`. Look with `ls -l {path}`. Or with `awk {path}`.")
	if got, want := template.Fill(situation), "It is `/a; id`. Look with `ls -l '/a; id'`."; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestFillCommand(t *testing.T) {
	scope := NewScope()
	scope.Declare("path", Shape{Type: String})
	command := ParsePhrase("if [[ -d {path} ]]; then ls. {path}; fi")
	if got := command.Fill(scope.NewSituation()); got != "" {
		t.Errorf("a command without its path is %q", got)
	}
	situation := scope.NewSituation()
	situation.Set("path", StringValue("/data"))
	if got, want := command.Fill(situation), "if [[ -d /data ]]; then ls. /data; fi"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestFillInstallation: what installs packages with pip is shown with what takes its place, but for options that only pip has.
func TestFillInstallation(t *testing.T) {
	scope := NewScope()
	scope.Declare("pip", Shape{Type: String})
	for text, want := range map[string]string{
		"pip install tea":                           "uv pip install tea",
		"python -m pip install -U tea":              "uv pip install -U tea",
		"pip install pot && LID=on pip install tea": "uv pip install pot && LID=on uv pip install tea",
		"pip install --user tea":                    "pip install --user tea",
		"pip uninstall -y tea; pip install tea":     "pip uninstall -y tea; uv pip install tea",
		"python -c 'print(\"pip install tea\")'":    "python -c 'print(\"pip install tea\")'",
	} {
		command, err := ParseCommand(text)
		if err != nil {
			t.Fatal(err)
		}
		situation := scope.NewSituation()
		if got := command.Fill(situation); got != text {
			t.Errorf("without the fact it is %q, not %q", got, text)
		}
		situation.Set("pip", StringValue("uv pip"))
		if got := command.Fill(situation); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
