package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gpu-triage/triage/matcher/example"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// shippedLogs is where the repository keeps the logs of the built-in rules that are too long, or too real, to stand with a signature.
const shippedLogs = "testdata/logs"

func newRulesTest(std streams) *cobra.Command {
	var known ruleFlags
	var renew, shown, leftOut bool
	cmd := &cobra.Command{
		Use:   "test [DIR]",
		Short: "Diagnose the examples that rules come with and compare with their verdicts",
		Long: `Diagnoses the examples: of the signatures in DIR and every *.log below it that has its verdict on lines that begin
with #=, and compares. Each signature must have an example in which it is the root cause and a near miss, in which it
is not. Without DIR, in the repository of triage, its own rules and logs are tested. For a folder of that repository
say --rules rules/failures instead of DIR: its near misses may stand in other folders.

--accept writes what is diagnosed now into the verdicts that say something else: another root cause, certainty, line
or rank. What a verdict rules out stays a mistake, and none never becomes an answer or an answer none. Look at the
difference before you keep it.

--shown shows each example also in the ways in which programs wrap logs and people paste them: folded, quoted, without
the class of the exception, only its last lines, and so on. It tells where that costs the diagnosis, which is no mistake
in a verdict, but a hint to ask for less of a line's form.

--left-out diagnoses the examples of each signature without that signature, as a failure that nobody knows yet. What
another one then says is right if it is the same in more general words. Where it is another cause, that signature is
too wide, or too sure.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tested, err := readTested(&known, args)
			if err != nil {
				return err
			}
			if renew {
				if err := tested.accept(cmd.Context(), std); err != nil {
					return err
				}
			}
			if shown {
				if err := tested.show(cmd.Context(), std); err != nil {
					return err
				}
			}
			if leftOut {
				if err := tested.leaveOut(cmd.Context(), std); err != nil {
					return err
				}
			}
			err = tested.run(cmd.Context(), std)
			if renew && err != nil {
				fmt.Fprintln(std.out, "What is left --accept does not decide: change match: or the answer by hand.")
			}
			return err
		},
	}
	known.add(cmd)
	cmd.Flags().BoolVar(&shown, "shown", false, "show the examples in the ways in which people paste logs, too")
	cmd.Flags().BoolVar(&leftOut, "left-out", false, "diagnose the examples of each signature without it, too")
	cmd.Flags().BoolVar(&renew, "accept", false, "rewrite verdicts that are no longer right, and print them")
	return cmd
}

// tested are signatures and the examples that they are tested with. Their places are as the user finds them.
type tested struct {
	base       *rules.Base
	layers     []layer
	signatures []*signature.Signature
	examples   []example.Example
}

// readTested reads the rules and examples of the folder that args name, or those of the repository.
func readTested(known *ruleFlags, args []string) (*tested, error) {
	logs := shippedLogs
	if len(args) > 0 {
		logs = args[0]
		known.dirs = append(known.dirs, logs)
	}
	base, err := known.load()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(logs); err != nil {
		return nil, fmt.Errorf("%s is not here: name the folder of your rules, or go to the repository of triage to test its own", logs)
	}
	t := &tested{base: base}
	layers, err := known.layers()
	if err != nil {
		return nil, err
	}
	t.layers = slices.Insert(layers, 0, layer{dir: logs, files: os.DirFS(logs)})
	t.signatures = ownSignatures(base, args)
	t.examples, err = example.Load(base, t.signatures, os.DirFS(logs))
	var problems rulefile.Problems
	if errors.As(err, &problems) {
		for i := range problems {
			problems[i].File = located(t.layers, problems[i].File)
		}
		return nil, problems
	}
	if err == nil && len(t.examples) == 0 {
		err = fmt.Errorf("%s: no signature with examples: and no *.log in this folder", logs)
	}
	for i := range t.examples {
		t.examples[i].Place.File = located(t.layers, t.examples[i].Place.File)
	}
	return t, err
}

// ownSignatures are those that a folder adds, or the built-in ones when none is named.
func ownSignatures(base *rules.Base, dirs []string) []*signature.Signature {
	if len(dirs) == 0 {
		return base.Signatures()
	}
	var own []*signature.Signature
	for _, s := range base.Signatures() {
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(s.Place.File))); err == nil {
				own = append(own, s)
			}
		}
	}
	return own
}

// run diagnoses the examples and tells every mistake.
func (t *tested) run(ctx context.Context, std streams) error {
	engine, failed, renewable := matcher.New(t.base), 0, false
	for _, one := range t.examples {
		mistakes := example.Try(ctx, engine, one)
		for _, mistake := range mistakes {
			failed++
			fmt.Fprintf(std.out, "%v: %s\n", one, mistake)
		}
		if len(mistakes) > 0 && !renewable {
			renewed, err := example.Renew(ctx, engine, one)
			renewable = err == nil && !one.Same(renewed)
		}
	}
	for _, lack := range example.Uncovered(t.signatures, t.examples) {
		failed++
		lack.File = located(t.layers, lack.File)
		fmt.Fprintln(std.out, lack)
	}
	if renewable {
		fmt.Fprintln(std.out, "Where what is diagnosed now is right, triage rules test --accept writes it into the verdict.")
	}
	if failed > 0 {
		fmt.Fprintf(std.out, "%d mistakes in %d examples of %d signatures\n", failed, len(t.examples), len(t.signatures))
		return exitStatus(exitNothing)
	}
	_, err := fmt.Fprintf(std.out, "%d examples of %d signatures: all as expected\n", len(t.examples), len(t.signatures))
	return err
}

// show tells in which ways of presentation the examples lose their diagnosis.
func (t *tested) show(ctx context.Context, std streams) error {
	engine, ways := matcher.New(t.base), example.Ways()
	showings, kept := 0, 0
	for _, one := range t.examples {
		if !one.CanBeShown(engine) {
			continue
		}
		lost, err := example.Show(ctx, engine, one, ways)
		if err != nil {
			return fmt.Errorf("%v: %w", one, err)
		}
		for _, showing := range lost {
			fmt.Fprintln(std.out, showing)
		}
		showings, kept = showings+len(ways), kept+len(ways)-len(lost)
	}
	_, err := fmt.Fprintf(std.out, "%d of %d showings keep the diagnosis\n", kept, showings)
	return err
}

// leaveOut tells what is diagnosed of a failure as long as its signature is not written.
func (t *tested) leaveOut(ctx context.Context, std streams) error {
	of := make(map[string][]example.Example)
	for _, one := range t.examples {
		if len(one.Want) > 0 {
			of[one.Want[0].ID] = append(of[one.Want[0].ID], one)
		}
	}
	count, all := make(map[report.Certainty]int), 0
	for _, s := range t.signatures {
		if s.Role.LastResort() || len(of[s.ID]) == 0 {
			continue
		}
		instead, err := example.LeaveOut(ctx, t.base, s.ID, of[s.ID])
		if err != nil {
			return err
		}
		for _, one := range instead {
			count[one.Certainty]++
			all++
			if one.Certainty == report.Confirmed || one.Certainty == report.Likely {
				fmt.Fprintln(std.out, one)
			}
		}
	}
	_, err := fmt.Fprintf(std.out, "Of %d examples without their signature %d are confirmed as something else, %d likely, %d unexplained; of %d nothing is said.\n",
		all, count[report.Confirmed], count[report.Likely], count[report.Unexplained], count[""])
	return err
}

// accept rewrites the verdicts that are no longer right, and prints them. It begins at the end, so that the places of what is still to
// be rewritten in a file stay right.
func (t *tested) accept(ctx context.Context, std streams) error {
	engine := matcher.New(t.base)
	for i, one := range slices.Backward(t.examples) {
		renewed, err := example.Renew(ctx, engine, one)
		if err != nil {
			return fmt.Errorf("%v: %w", one, err)
		}
		if one.Same(renewed) {
			continue
		}
		if err := rewrite(one, renewed); err != nil {
			return err
		}
		t.examples[i] = renewed
		if _, err := fmt.Fprintf(std.out, "%v: accepted %s instead of %s\n", one, renewed.Verdict(), one.Verdict()); err != nil {
			return err
		}
	}
	return nil
}

// rewrite writes a renewed verdict into the file of an example.
func rewrite(one, renewed example.Example) error {
	file := filepath.FromSlash(one.File())
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := one.Rewrite(string(content), renewed)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), info.Mode())
}
