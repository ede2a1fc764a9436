package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/spf13/cobra"
)

func newRules(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Look at the knowledge base, check it and test it",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRulesList(std), newRulesShow(std), newRulesCheck(std), newRulesTest(std), newRulesCoverage(std), newRulesNew(std), newRulesUpdate(std), newRulesPack(std))
	return cmd
}

func newRulesList(std streams) *cobra.Command {
	var output outputFlags
	var known ruleFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the signatures",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := output.check("text", "json"); err != nil {
				return err
			}
			base, err := known.load()
			if err != nil {
				return err
			}
			return listRules(std, base, output.format)
		},
	}
	output.add(cmd, "text", "json")
	known.add(cmd)
	return cmd
}

// ruleSummary is a signature in `triage rules list --format json`.
type ruleSummary struct {
	ID     string `json:"id"`
	Family string `json:"family"`
	Role   string `json:"role"`
	Title  string `json:"title"`
}

func listRules(std streams, base *rules.Base, format string) error {
	summaries := []ruleSummary{}
	for _, s := range base.Signatures() {
		summaries = append(summaries, ruleSummary{s.ID, s.Family, string(s.Role), s.Title})
	}
	if format == "json" {
		return writeJSON(std.out, summaries)
	}
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	for _, s := range summaries {
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.Family, s.ID, s.Title)
	}
	return table.Flush()
}

func newRulesShow(std streams) *cobra.Command {
	var known ruleFlags
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Print a signature as it is written, or what is known of a backend rule",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			base, libraries, err := known.loadLibraries()
			if err != nil {
				return err
			}
			for _, library := range libraries {
				for _, rule := range library.Rules() {
					if rule.ID == args[0] {
						return showBackendRule(std, library, rule)
					}
				}
			}
			return showRule(std, base, &known, args[0])
		},
		ValidArgsFunction: known.completeID,
	}
	known.add(cmd)
	return cmd
}

// completeID offers the ids of the signatures.
func (f *ruleFlags) completeID(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	base, err := f.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return signatureIDs(base), cobra.ShellCompDirectiveNoFileComp
}

func signatureIDs(base *rules.Base) []string {
	var ids []string
	for _, s := range base.Signatures() {
		ids = append(ids, s.ID)
	}
	return ids
}

// showRule prints the file of a signature, from the last folder that has it.
func showRule(std streams, base *rules.Base, known *ruleFlags, id string) error {
	s := base.Signature(id)
	if s == nil {
		return fmt.Errorf("there is no signature %s%s; triage rules list lists them", id, didYouMean(id, signatureIDs(base)))
	}
	layers, err := known.layers()
	if err != nil {
		return err
	}
	var content []byte
	for _, l := range layers {
		if replaced, replacedErr := fs.ReadFile(l.files, s.Place.File); replacedErr == nil {
			content = replaced
		}
	}
	_, err = std.out.Write(content)
	return err
}

// showBackendRule prints a backend rule as the last release has it.
func showBackendRule(std streams, library *backend.Library, rule backend.Rule) error {
	_, err := fmt.Fprintf(std.out, "id: %s\nlibrary: %s\nbecause: %s\nsource: %s\n", rule.ID, library.Name, rule.Because, rule.Source)
	if err == nil && rule.Message != "" {
		_, err = fmt.Fprintf(std.out, "message: %s\n", rule.Message)
	}
	return err
}

// didYouMean names the candidates that a misspelled word may mean: those that hold it, and those that begin most like it.
func didYouMean(word string, candidates []string) string {
	alike := func(candidate string) int {
		if strings.Contains(candidate, word) {
			return len(word)
		}
		n := 0
		for n < min(len(word), len(candidate)) && word[n] == candidate[n] {
			n++
		}
		return n
	}
	near := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return alike(c) <= len(word)/2 })
	slices.SortStableFunc(near, func(a, b string) int { return alike(b) - alike(a) })
	if len(near) == 0 {
		return ""
	}
	return ", did you mean " + either(near[:min(len(near), 3)]) + "?"
}
