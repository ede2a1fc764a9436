package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
)

// The values of flags that have only a few, the default first.
var (
	reportFormats = []string{"text", "json", "markdown", "html", "html-fragment", "github", "sarif", "junit"}
	colorModes    = []string{"auto", "always", "never"}
	liveModes     = []string{"auto", "on", "off"}
)

// outputFlags say what an answer looks like.
type outputFlags struct {
	format  string
	color   string
	verbose bool
	logs    []string // the logs that the answer is about, as the user named them
}

func (f *outputFlags) add(cmd *cobra.Command, formats ...string) {
	choose(cmd, &f.format, "format", formats, "form of the answer: ")
	choose(cmd, &f.color, "color", colorModes, "colours in text: ")
}

// addReport is add for answers that are reports.
func (f *outputFlags) addReport(cmd *cobra.Command) {
	f.add(cmd, reportFormats...)
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "the whole answer in text, not only what fits a screen")
}

// choose adds a flag that has one of a few values, the first by default.
func choose(cmd *cobra.Command, value *string, name string, values []string, usage string) {
	cmd.Flags().StringVar(value, name, values[0], usage+either(values))
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// show writes a report in the form asked for. With github, the job's summary gets it too.
func (f *outputFlags) show(std streams, report *report.Report) error {
	report.Wrong = report.IssueLink()
	text, err := f.write(std, report)
	if err != nil {
		return err
	}
	if _, err := std.out.Write(text); err != nil {
		return err
	}
	if summary := std.env("GITHUB_STEP_SUMMARY"); f.format == "github" && summary != "" {
		return appendTo(summary, render.Markdown(report, 0))
	}
	return nil
}

func (f *outputFlags) write(std streams, report *report.Report) ([]byte, error) {
	switch f.format {
	case "json":
		return render.JSON(report)
	case "markdown":
		return []byte(render.Markdown(report, 0)), nil
	case "html":
		return render.HTML(report)
	case "html-fragment":
		return render.HTMLFragment(report)
	case "github":
		return []byte(render.GitHub(report, workspace(std))), nil
	case "sarif":
		return render.SARIF(report, workspace(std))
	case "junit":
		return render.JUnit(report)
	}
	style := std.style(f.color)
	if f.verbose {
		return []byte(render.Text(report, style)), nil
	}
	style.Logs = shellWords(f.logs)
	return []byte(render.Short(report, style)), nil
}

// shellWords are the names of logs as a shell takes them, "" when one of them is standard input.
func shellWords(names []string) string {
	var words []string
	for _, name := range names {
		if name == "-" {
			return ""
		}
		if strings.Trim(name, plainInShell) != "" {
			name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
		}
		words = append(words, name)
	}
	return strings.Join(words, " ")
}

// plainInShell are the characters that mean nothing to a shell.
const plainInShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-"

// workspace is the folder whose files are the user's code: the checkout in a workflow on GitHub, else where the program runs.
func workspace(std streams) string {
	if folder := std.env("GITHUB_WORKSPACE"); folder != "" {
		return folder
	}
	folder, err := os.Getwd()
	if err != nil {
		return ""
	}
	return folder
}

// appendTo adds text at the end of a file.
func appendTo(name, text string) error {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// check refuses values that the flags do not have, before any work is done.
func (f *outputFlags) check(formats ...string) error {
	if err := checkChoice("format", f.format, formats); err != nil {
		return err
	}
	return checkChoice("color", f.color, colorModes)
}

// checkChoice refuses a value that a flag does not have.
func checkChoice(flag, value string, choices []string) error {
	if !slices.Contains(choices, value) {
		return fmt.Errorf("unknown --%s %s; it is %s", flag, value, either(choices))
	}
	return nil
}

// either joins words as a choice: "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
