package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/rules"
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

// proposals is how many changes are proposed where no backend is left.
const proposals = 5

func newBackends(std streams) *cobra.Command {
	o := &backendsOptions{}
	cmd := &cobra.Command{
		Use:   "backends LIBRARY [FILE|DIR|-]...",
		Short: "Tell which backends a library allows here, what rules out the others, and what would help",
		Long: `Applies the rules by which a library chooses its backends to what is known: the facts given, those of the logs named,
and with --live on those of this machine.

With --batch, standard input holds one situation a line, {"id": ..., "facts": {"NAME": VALUE}}, and the answers
come in the same order. A fact that is null is known to be absent, one that is not there is unknown.

Exit status: 0 something is known of a backend, 1 nothing is, 2 the call or its input was wrong.`,
		Example: `  triage backends transformer_engine --fact transformer_engine=2.3.0 --fact sm=80 --fact head_dim_qk=192
  triage backends transformer_engine train.log
  triage backends transformer_engine --batch --changes <situations.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.library, o.paths = args[0], args[1:]
			return runBackends(cmd.Context(), std, o)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			_, libraries, err := o.rules.loadLibraries()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return libraryNames(libraries), cobra.ShellCompDirectiveNoFileComp
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
	base, libraries, err := o.rules.loadLibraries()
	if err != nil {
		return err
	}
	library, err := libraryNamed(libraries, o.library)
	if err != nil {
		return err
	}
	if o.batch {
		return o.runBatch(std, base, library)
	}
	facts, err := o.situation(ctx, std, base)
	if err != nil {
		return err
	}
	answer := answerFor(library, facts)
	if err := o.show(std, answer); err != nil {
		return err
	}
	if !slices.ContainsFunc(answer.Backends, func(b matcher.Backend) bool { return b.Verdict != rules.Unknown }) {
		return exitStatus(exitNothing)
	}
	return nil
}

func (o *backendsOptions) runBatch(std streams, base *rules.Base, library *rules.Library) error {
	if len(o.paths) > 0 || len(o.facts.facts) > 0 || len(o.facts.files) > 0 || o.live != "off" {
		return errors.New("--batch takes its facts from standard input alone, without logs, --fact, --facts and --live")
	}
	options := rules.BatchOptions{}
	if o.changes {
		options.Changes = proposals
	}
	return library.Batch(base.Vocabulary, std.in, std.out, options)
}

func libraryNames(libraries []*rules.Library) []string {
	var names []string
	for _, l := range libraries {
		names = append(names, l.Name)
	}
	return names
}

func libraryNamed(libraries []*rules.Library, name string) (*rules.Library, error) {
	for _, l := range libraries {
		if l.Name == strings.ReplaceAll(name, "-", "_") {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no backend rules for %s; there are those of %s", name, strings.Join(libraryNames(libraries), ", "))
}

// situation joins what the user, the logs and this machine say.
func (o *backendsOptions) situation(ctx context.Context, std streams, base *rules.Base) (map[string]rules.Value, error) {
	known, err := o.facts.read(base.Vocabulary)
	if err != nil {
		return nil, err
	}
	if o.live == "on" {
		known = append(known, live.Read(ctx, live.Options{Base: base}).Known(base.Vocabulary)...)
	}
	reading := matcher.New(base).Begin()
	if len(o.paths) > 0 {
		err := eachLog(ctx, std, o.paths, func(name string, log io.Reader) error { return reading.Read(ctx, name, log) })
		if err != nil {
			return nil, err
		}
	}
	facts := make(map[string]rules.Value)
	for _, f := range reading.Report(known...).Facts {
		value, err := base.Vocabulary.FromJSON(f.Name, f.Value)
		if err != nil {
			return nil, err
		}
		facts[f.Name] = value
	}
	return facts, nil
}

// backendsAnswer is what `triage backends --format json` prints.
type backendsAnswer struct {
	Library   string            `json:"library"`
	Release   string            `json:"release,omitempty"` // whose rules were applied
	Available []string          `json:"available"`
	Selected  *string           `json:"selected"` // null: none, or not decided
	Reports   map[string]any    `json:"reports,omitempty"`
	Backends  []matcher.Backend `json:"backends"`
	Missing   []matcher.Missing `json:"missing"`
	Changes   []matcher.Fix     `json:"changes"`
	Note      string            `json:"note,omitempty"`
}

func answerFor(library *rules.Library, facts map[string]rules.Value) backendsAnswer {
	selection := library.Evaluate(facts)
	answer := backendsAnswer{
		Library: library.Name, Release: selection.Release, Available: selection.Available(), Note: selection.Note,
		Reports: make(map[string]any), Missing: []matcher.Missing{}, Changes: []matcher.Fix{},
	}
	if selection.Selected != "" {
		answer.Selected = &selection.Selected
	}
	for name, value := range selection.Reports {
		if value.Known() {
			answer.Reports[name] = value.JSON()
		}
	}
	for _, b := range selection.Backends {
		backend := matcher.Backend{Name: b.Name, Verdict: b.Verdict, Rules: []matcher.BackendRule{}, Missing: b.Missing}
		for _, r := range b.Rules {
			backend.Rules = append(backend.Rules, matcher.BackendRule{ID: r.ID, Because: r.Because, Source: r.Source})
		}
		answer.Backends = append(answer.Backends, backend)
	}
	for _, m := range selection.Missing {
		answer.Missing = append(answer.Missing, matcher.Missing(m))
	}
	for _, c := range library.Changes(facts, proposals) {
		answer.Changes = append(answer.Changes, fixOf(c))
	}
	return answer
}

// fixOf puts a proposal into the form of a fix.
func fixOf(c rules.Change) matcher.Fix {
	fix := matcher.Fix{Run: []string{}, Set: make(map[string]any), Verified: true, Effect: c.Selected + " becomes available", Cost: c.Cost}
	var do, loses []string
	for _, step := range c.Steps {
		do = append(do, step.Do)
		fix.Run = append(fix.Run, step.Run...)
		if step.Loses != "" {
			loses = append(loses, step.Loses)
		}
	}
	for name, value := range c.Set {
		fix.Set[name] = value.JSON()
	}
	fix.Do, fix.Loses = strings.Join(do, " "), strings.Join(loses, "; ")
	return fix
}

func (o *backendsOptions) show(std streams, answer backendsAnswer) error {
	if o.output.format == "json" {
		encoder := json.NewEncoder(std.out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(answer)
	}
	headline := "no backend is available"
	switch {
	case answer.Selected != nil:
		headline = *answer.Selected + " is used"
	case len(answer.Available) > 0:
		headline = "available: " + strings.Join(answer.Available, ", ")
	case slices.ContainsFunc(answer.Backends, func(b matcher.Backend) bool { return b.Verdict == rules.Unknown }):
		headline = "not decided"
	}
	_, err := fmt.Fprint(std.out, render.Backends(render.Choice{
		Headline: strings.TrimSpace(answer.Library+" "+answer.Release) + ": " + headline, Note: answer.Note,
		Backends: answer.Backends, Missing: answer.Missing, Changes: answer.Changes,
	}, std.style(o.output.color)))
	return err
}
