package logline

import (
	"slices"
	"strings"
	"testing"
)

// TestTracebackOnOneLine: a traceback whose line breaks were lost is read as it was printed.
func TestTracebackOnOneLine(t *testing.T) {
	printed := []string{
		"Traceback (most recent call last):", `  File "/home/user/train.py", line 88, in <module>`, "    main()",
		`  File "/home/user/train.py", line 41, in load`, "    return open(path)",
		"FileNotFoundError: [Errno 2] No such file or directory: '/data/x.bin'", "",
		"During handling of the above exception, another exception occurred:", "",
		"Traceback (most recent call last):", `  File "/home/user/train.py", line 90, in <module>`, "    raise RuntimeError(path) from None",
		"RuntimeError: Error: nothing to read",
	}
	whole := strings.Join(printed, "\n")
	for name, shown := range map[string]string{
		"spaces":         strings.ReplaceAll(whole, "\n", " "),
		"one space each": strings.Join(strings.Fields(whole), " "),
		"behind words":   "2026-11-20 10:00:00,123 - ERROR - training failed: " + strings.ReplaceAll(whole, "\n", " "),
	} {
		t.Run(name, func(t *testing.T) {
			got := bodies(cleaned(shown))
			got[0] = strings.TrimPrefix(got[0], "training failed: ")
			if !slices.Equal(withoutEmpty(got), withoutEmpty(printed)) {
				t.Errorf("got\n%s\nfor\n%s", strings.Join(got, "\n"), shown)
			}
		})
	}
	for _, text := range []string{"look for Traceback (most recent call last): in the file", `path C:\new\nodes`} {
		if got := bodies(cleaned(text)); !slices.Equal(got, []string{text}) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func withoutEmpty(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return line == "" })
}
