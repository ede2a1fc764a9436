package main

import (
	"encoding/json"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/gpu-triage/triage/matcher/render"
)

// streams are what the program talks to.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(name string) string
}

// terminal tells whether a stream is a terminal, and how many columns it has.
func terminal(stream any) (columns int, ok bool) {
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		columns = 0
	}
	return columns, true
}

// style is how text on out may look. Color is one of colorModes; auto does as https://no-color.org says.
func (s streams) style(color string) render.Style {
	columns, isTerminal := terminal(s.out)
	auto := isTerminal && s.env("NO_COLOR") == "" && s.env("TERM") != "dumb"
	return render.Style{Width: columns, Color: color == "always" || color == "auto" && auto}
}

// writeJSON writes a value as people read JSON.
func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
