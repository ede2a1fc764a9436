package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/catalogue"
	"github.com/gpu-triage/triage/matcher/catalogue/site"
	"github.com/gpu-triage/triage/rules/release"
)

func newDocs(std streams) *cobra.Command {
	var known ruleFlags
	cmd := &cobra.Command{
		Use:   "docs DIR",
		Short: "Write the catalogue of known failures as a static site",
		Long: `Writes a page for each known failure and for each library whose backend rules are known, and one that lists and searches
them. The pages work from the folder, without a server, and load nothing from anywhere. A site that was written there before is replaced;
a folder with other files in it is refused.`,
		Example: `  triage docs site`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return writeDocs(cmd.Context(), std, &known, args[0]) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	known.add(cmd)
	return cmd
}

func writeDocs(ctx context.Context, std streams, known *ruleFlags, folder string) error {
	if err := site.Usable(folder); err != nil { // before the work
		return err
	}
	base, libraries, err := known.loadLibraries()
	if err != nil {
		return err
	}
	written := site.Site{Program: release.Program(), Knowledge: base.Version()}
	written.Failures, err = catalogue.All(ctx, matcher.New(base))
	if err != nil {
		return err
	}
	for _, l := range libraries {
		written.Libraries = append(written.Libraries, catalogue.LibraryOf(l, base.Vocabulary))
	}
	n, err := written.Write(folder)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "%s: %d pages; open %s/index.html\n", folder, n, folder)
	return err
}
