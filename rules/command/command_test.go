package command

import (
	"regexp"
	"strings"
	"testing"
)

var hole = regexp.MustCompile(`\{\w+\}`)

// fill puts one value into all places of a command.
func fill(t *testing.T, command, value string) string {
	t.Helper()
	texts := hole.Split(command, -1)
	line, err := Parse(texts)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	values := make([]Value, len(texts)-1)
	for i := range values {
		values[i].Text = value
	}
	text, _ := line.Fill(values)
	return text
}

func TestFill(t *testing.T) {
	for _, c := range []struct{ command, value, want string }{
		{"ls -ld {path}", "/data/a.bin", "ls -ld /data/a.bin"},
		{"ls -ld {path}", "/data/$(touch pwned)/a.bin", "ls -ld '/data/$(touch pwned)/a.bin'"},
		{"ls -ld {path}", "/it's", `ls -ld '/it'\''s'`},
		{"ls -ld {path}", "~/my data/a", `ls -ld ~/'my data/a'`},
		{"ls -ld {path}", "-R", ""},
		{"ls -ld {path}", "/a\nid", ""},
		{"ls -ld {path}", "/a\u202etxt", ""},
		{"ls -ld {path}", "/" + strings.Repeat("a", maxValue), ""},
		{"ls -ld {path}", "", ""},
		{"ls -l {folder}/checkpoint-*", "/my data", "ls -l '/my data'/checkpoint-*"},
		{"touch $(dirname {path})/x", "/my data/a", "touch $(dirname '/my data/a')/x"},
		{`cd "$(dirname {path})"`, "/my data/a", `cd "$(dirname '/my data/a')"`},
		{"touch `dirname {path}`", "/data/a", "touch `dirname /data/a`"},
		{"touch `dirname {path}`", "/my data/a", ""},
		{"find '{place}' -name x", "it's", `find 'it'\''s' -name x`},
		{`find "{place}/sub" -name x`, "/my data", `find "/my data/sub" -name x`},
		{`find "{place}/sub" -name x`, "/$(id)", `find ""'/$(id)'"/sub" -name x`},
		{"cat <<EOF\n{path}\nEOF", "/data", "cat <<EOF\n/data\nEOF"},
		{"cat <<EOF\n{path}\nEOF", "$(id)", ""},
		{"cat <<'EOF'\n{path}\nEOF", "EOF; id", ""},
		{"python -c 'import {module} as m'", "os.path", "python -c 'import os.path as m'"},
		{"python -c 'import {module} as m'", "os; print(1)", ""},
		{"srun bash -c 'which {program}; echo $PATH'", "a;b", ""},
		{"bash -c {program}", "rm -rf x", ""},
		{"sed -i 's/{class}/x/' a.json", "y/e;", ""},
		{"ssh node ls {path}", "/a;id", ""},
		{"{program} --version", "rm -rf", ""},
		{"echo ${HOME:-{path}}", "$(id)", ""},
		{"pip install {module}", "foo_bar[all]>=1.0,<2", "pip install 'foo_bar[all]>=1.0,<2'"},
		{"pip install {module}", "git+https://evil.example/x", ""},
		{"pip install {module}", "https://evil.example/x.whl", ""},
		{"pip install '{module}=={module}'", "x@y", ""},
		{"pip list | grep -i {module}", "foo; curl evil", "pip list | grep -i 'foo; curl evil'"},
		{"python train.py +{key}=VALUE   # once", "a b", "python train.py +'a b'=VALUE   # once"},
		{"ls   # as in {path}", "/data", "ls   # as in /data"},
		{"ls   # as in {path}", "/data; id", ""},
		{"--size {size}", "4 5", "--size '4 5'"},
		{"python: load('{path}')", `C:\it's`, `load('C:\\it\'s')`},
		{`python: load("{path}")`, `a"b`, `load("a\"b")`},
		{"python: load(f'{path}')", "a{b}", ""},
		{"python: model.{name}", "head.weight", "model.head.weight"},
		{"python: model.{name}", "head; import os", ""},
		{"python: f(n={n})", "12", "f(n=12)"},
		{"python: f(n=1)   # {name}", "a\tb", ""},
		{"python: print(x)   # before {at}", "/job/train.py:12", "print(x)   # before /job/train.py:12"},
		{"python: print(x)   # before {at}", `C:\job\train.py:12`, `print(x)   # before C:\job\train.py:12`},
		{"python: print(x)   # before {at}", "train.py:12\nimport os", ""},
		{"python: print(x)   # before {at}", "train.py:12; import os", ""},
		{`config: {"a": "{path}"}`, `x"y`, `{"a": "x\"y"}`},
		{"config: a: '{path}'", "it's", "a: 'it''s'"},
		{"config: a: {path}", "b: c", ""},
		{"text: Ask for {path}.", "a b", "Ask for a b."},
	} {
		if got := fill(t, c.command, c.value); got != c.want {
			t.Errorf("%q with %q is %q, not %q", c.command, c.value, got, c.want)
		}
	}
}

func TestKind(t *testing.T) {
	for command, want := range map[string]Kind{
		"pip install -U torch":                Sh,
		"CUDA_LAUNCH_BLOCKING=1 torchrun ...": Sh,
		"$CUDA_HOME/bin/nvcc --version":       Sh,
		"for i in 1 2; do echo $i; done":      Sh,
		"sh: \"C:\\a b\\x.bat\"":              Sh,
		"python: import torch":                Python,
		"--bf16 True --fp16 False":            Flag,
		"config: #SBATCH --mem=0":             Config,
		"text: Ask the administrator.":        Text,
		"import torch":                        "",
		"model.half()":                        "",
		"x = y":                               "",
		"a @ b.T":                             "",
		"optimizer: adamw":                    "",
		"accelerate config: version: 1":       "",
		"Ask the administrator":               "",
		"attn_implementation='sdpa'":          "",
		"#SBATCH --mem=0":                     "",
		"sh:":                                 "",
		"sh: ls 'x":                           "",
		"python: print(":                      "",
		"":                                    "",
	} {
		line, err := Parse([]string{command})
		if want == "" && err == nil {
			t.Errorf("%q is taken as %s", command, line.Kind())
		} else if want != "" && (err != nil || line.Kind() != want) {
			t.Errorf("%q is %s, not %s: %v", command, line.Kind(), want, err)
		}
	}
}
