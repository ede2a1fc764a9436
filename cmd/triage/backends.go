package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/diagnosis"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/spf13/cobra"
)

// backendsOptions are what one call of `triage backends LIBRARY [FILE|DIR|-]...` asks for.
type backendsOptions struct {
	output  outputFlags
	rules   ruleFlags
	facts   factFlags
	live    string
	batch   bool
	changes bool
	library string
	paths   []string
}

func newBackends(std streams) *cobra.Command {
	o := &backendsOptions{}
	cmd := &cobra.Command{
		Use:   "backends [LIBRARY [FILE|DIR|-]...]",
		Short: "Tell which backends a library allows here, what rules out the others, and what would help",
		Long: `Applies the rules by which a library chooses its backends to what is known: the facts given, those of the logs named,
and with --live on those of this machine.

Without a library, it lists those that it knows with the releases that the rules cover.

With --batch, standard input holds one situation a line, {"id": ..., "facts": {"NAME": VALUE}}, and the answers
come in the same order. A fact that is null is known to be absent. One that is not there is that of --fact, --facts
or --live, which are read once for the whole batch, else unknown.

Exit status: 0 something is known of a backend, 1 nothing is, 2 the call or its input was wrong.`,
		Example: `  triage backends transformer_engine --fact transformer_engine=2.3.0 --fact sm=80 --fact head_dim_qk=192
  triage backends transformer_engine train.log
  triage backends vllm --fact vllm=0.16.0 --fact sm=80 --fact head_size=320 --fact dtype=torch.bfloat16
  triage backends transformer_engine --batch --changes <situations.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listLibraries(std, o)
			}
			o.library, o.paths = args[0], args[1:]
			return runBackends(cmd.Context(), std, o)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			_, _, names, err := o.rules.loadLibrary("")
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.output.add(cmd, factFormats...)
	o.rules.add(cmd)
	o.facts.add(cmd)
	choose(cmd, &o.live, "live", []string{"off", "on"}, "facts of this machine: ")
	cmd.Flags().BoolVar(&o.batch, "batch", false, "answer situations from standard input, one a line, as JSON Lines")
	cmd.Flags().BoolVar(&o.changes, "changes", false, "in a batch, propose changes where no backend is left")
	return cmd
}

func runBackends(ctx context.Context, std streams, o *backendsOptions) error {
	if err := o.output.check(factFormats...); err != nil {
		return err
	}
	if err := checkChoice("live", o.live, []string{"on", "off"}); err != nil {
		return err
	}
	base, library, names, err := o.rules.loadLibrary(strings.ReplaceAll(o.library, "-", "_"))
	if err != nil {
		return err
	}
	if library == nil {
		return fmt.Errorf("no backend rules for %s; there are those of %s", o.library, strings.Join(names, ", "))
	}
	known, err := o.facts.read(library.Vocabulary(base.Vocabulary))
	if err != nil {
		return err
	}
	if o.live == "on" {
		known = append(known, live.Read(ctx, live.Options{Base: base}).Known(base.Vocabulary)...)
	}
	if o.batch {
		return o.runBatch(std, base, library, known)
	}
	reading := matcher.New(base).Begin()
	if len(o.paths) > 0 {
		err := eachLog(ctx, std, o.paths, func(name string, log io.Reader) error { return reading.Read(ctx, name, log) })
		if err != nil {
			return err
		}
	}
	choice := reading.Choose(library, known...)
	if err := o.show(std, choice); err != nil {
		return err
	}
	if !slices.ContainsFunc(choice.Backends, func(b report.Backend) bool { return b.Verdict != backend.Unknown }) {
		return exitStatus(exitNothing)
	}
	return nil
}

// runBatch answers situations. What is known goes for each of them that says nothing else of it; the user's facts weigh more than the machine's.
func (o *backendsOptions) runBatch(std streams, base *rules.Base, library *backend.Library, known []facts.Fact) error {
	if len(o.paths) > 0 {
		return errors.New("--batch takes situations from standard input and no logs")
	}
	all := make(facts.Facts)
	for _, f := range known {
		all.Add(f)
	}
	all.Infer(base.Vocabulary)
	options := backend.BatchOptions{Known: make(map[string]condition.Value)}
	for name, f := range all {
		options.Known[name] = f.Value
	}
	if o.changes {
		options.Changes = backend.Proposals
	}
	return library.Batch(base.Vocabulary, std.in, std.out, options)
}

func libraryNames(libraries []*backend.Library) []string {
	var names []string
	for _, l := range libraries {
		names = append(names, l.Name)
	}
	return names
}

func (o *backendsOptions) show(std streams, choice diagnosis.Choice) error {
	if o.output.format == "json" {
		return writeJSON(std.out, choice)
	}
	_, err := fmt.Fprint(std.out, render.Backends(choice, std.style(o.output.color)))
	return err
}

// listedLibrary is a library in `triage backends --format json`.
type listedLibrary struct {
	Library  string   `json:"library"`
	Title    string   `json:"title"`
	Releases []string `json:"releases"` // that the rules cover
	Checked  []string `json:"checked"`  // of them, those whose own code was run beside the rules; the others were read
}

// listLibraries tells which libraries and releases the rules cover.
func listLibraries(std streams, o *backendsOptions) error {
	if err := o.output.check(factFormats...); err != nil {
		return err
	}
	if o.batch {
		return errors.New("--batch needs the name of a library")
	}
	_, libraries, err := o.rules.loadLibraries()
	if err != nil {
		return err
	}
	listed := []listedLibrary{}
	for _, l := range libraries {
		one := listedLibrary{Library: l.Name, Title: l.Title, Releases: []string{}, Checked: []string{}}
		for _, r := range l.Releases() {
			one.Releases = append(one.Releases, r.Version)
			if r.Checked {
				one.Checked = append(one.Checked, r.Version)
			}
		}
		listed = append(listed, one)
	}
	if o.output.format == "json" {
		return writeJSON(std.out, listed)
	}
	for _, l := range listed {
		fmt.Fprintf(std.out, "%s  %s\n  covers %s to %s\n  compared with the library's own code: %s\n",
			l.Library, l.Title, l.Releases[0], l.Releases[len(l.Releases)-1], cmp.Or(strings.Join(l.Checked, ", "), "none"))
	}
	return nil
}
