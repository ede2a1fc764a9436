package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/spf13/cobra"
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

// load reads the knowledge base.
func (f *ruleFlags) load() (*rules.Base, error) { return f.read(rules.Open) }

// read is load in one of the two ways: rules.Load looks at every file for mistakes, rules.Open trusts those that were shipped.
func (f *ruleFlags) read(open func(...fs.FS) (*rules.Base, error)) (base *rules.Base, err error) {
	layers, err := f.layers()
	if err != nil {
		return nil, err
	}
	err = stack(layers, func(files []fs.FS) error {
		base, err = open(files...)
		return err
	})
	return base, err
}

// loadLibraries reads the knowledge base and the backend rules in it.
func (f *ruleFlags) loadLibraries() (base *rules.Base, libraries []*backend.Library, err error) {
	base, err = f.load()
	if err != nil {
		return nil, nil, err
	}
	layers, err := f.layers()
	if err != nil {
		return nil, nil, err
	}
	err = stack(layers, func(files []fs.FS) error {
		libraries, err = backend.Load(base.Vocabulary, files...)
		return err
	})
	return base, libraries, err
}

// loadLibrary reads the knowledge base and the backend rules of one library; nil where there are none. The names are those of all.
func (f *ruleFlags) loadLibrary(name string) (base *rules.Base, library *backend.Library, names []string, err error) {
	base, err = f.load()
	if err != nil {
		return nil, nil, nil, err
	}
	layers, err := f.layers()
	if err != nil {
		return nil, nil, nil, err
	}
	err = stack(layers, func(files []fs.FS) error {
		names, err = backend.LibraryNames(files...)
		if err != nil {
			return err
		}
		library, err = backend.LoadLibrary(base.Vocabulary, name, files...)
		return err
	})
	return base, library, names, err
}

// stack loads the first folder, then the first two and so on, so that a mistake can be told by the folder that brings it in.
func stack(layers []layer, load func([]fs.FS) error) error {
	var files []fs.FS
	for _, l := range layers {
		files = append(files, l.files)
		err := load(files)
		var problems rulefile.Problems
		if errors.As(err, &problems) {
			for i := range problems {
				problems[i].File = filepath.Join(l.dir, filepath.FromSlash(problems[i].File))
			}
			return problems
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// located is where the user finds a file: in the last of the folders that has it.
func located(layers []layer, file string) string {
	for _, l := range slices.Backward(layers) {
		if _, err := fs.Stat(l.files, file); err == nil {
			return filepath.Join(l.dir, filepath.FromSlash(file))
		}
	}
	return file
}

// factFlags are what the user knows of the situation.
type factFlags struct {
	facts []string
	files []string
}

func (f *factFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.facts, "fact", nil, "something known, as `NAME=VALUE`: torch=2.6.0, env.NCCL_DEBUG=INFO, flash_attn=none (repeatable)")
	cmd.Flags().StringArrayVar(&f.files, "facts", nil, "`FILE` of facts, as triage facts --format json prints them (repeatable)")
	_ = cmd.MarkFlagFilename("facts", "json")
	_ = cmd.RegisterFlagCompletionFunc("fact", completeFact)
}

// completeFact offers the names of facts, each with what it is.
func completeFact(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	const asTyped = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if strings.Contains(typed, "=") {
		return nil, asTyped
	}
	base, err := rules.Open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, name := range base.Vocabulary.Names() {
		if !strings.HasPrefix(name, typed) {
			continue
		}
		info, _ := base.Vocabulary.Fact(name)
		names = append(names, cobra.CompletionWithDesc(name+"=", info.About))
	}
	return names, asTyped
}

// read gives the facts, all of the user's own word. The error tells every wrong one.
func (f *factFlags) read(vocabulary *fact.Vocabulary) ([]facts.Fact, error) {
	var known []facts.Fact
	var wrong []error
	for _, given := range f.facts {
		name, text, ok := strings.Cut(given, "=")
		if !ok {
			wrong = append(wrong, fmt.Errorf("--fact %s: a fact is written NAME=VALUE", given))
			continue
		}
		value, err := vocabulary.Parse(name, text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--fact %s: %w", given, err))
			continue
		}
		known = append(known, facts.Fact{Name: name, Value: value, Source: facts.FromUser, Where: "--fact"})
	}
	for _, file := range f.files {
		facts, err := readFacts(file, vocabulary)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--facts %s: %w", file, err))
		}
		known = append(known, facts...)
	}
	return known, errors.Join(wrong...)
}

// maxFactsFile bounds a file of facts, in bytes.
const maxFactsFile = 16 << 20

// readFacts reads what `triage facts` printed, or an object with a member for each fact. Facts of a machine keep weighing less than
// what a log says; those that a person wrote down weigh more.
func readFacts(file string, vocabulary *fact.Vocabulary) ([]facts.Fact, error) {
	content, err := readAtMost(file, maxFactsFile)
	if err != nil {
		return nil, err
	}
	document, err := live.ParseDocument(content, vocabulary)
	if err != nil {
		return nil, err
	}
	var known []facts.Fact
	for _, f := range document.Facts {
		value, err := vocabulary.FromJSON(f.Name, f.Value)
		if err != nil {
			return nil, err
		}
		known = append(known, facts.Fact{Name: f.Name, Value: value, Source: facts.Source(f.Source), Where: file})
	}
	return known, nil
}

// askFlags are the flags of everything that asks for a diagnosis.
type askFlags struct {
	output outputFlags
	rules  ruleFlags
	facts  factFlags
	live   string
}

func (f *askFlags) add(cmd *cobra.Command) {
	f.output.addReport(cmd)
	f.rules.add(cmd)
	f.facts.add(cmd)
	choose(cmd, &f.live, "live", liveModes, "facts of this machine: ")
}

// load checks the flags and reads what they name: the knowledge base and the facts that the user knows.
func (f *askFlags) load() (*rules.Base, []facts.Fact, error) {
	if err := f.output.check(reportFormats...); err != nil {
		return nil, nil, err
	}
	if err := checkChoice("live", f.live, liveModes); err != nil {
		return nil, nil, err
	}
	base, err := f.rules.load()
	if err != nil {
		return nil, nil, err
	}
	known, err := f.facts.read(base.Vocabulary)
	return base, known, err
}
