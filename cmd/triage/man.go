package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/gpu-triage/triage/rules/release"
)

// newMan writes the man pages of all commands, for packages.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the man pages",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the day of the build would make each build another
			header := &doc.GenManHeader{Section: "1", Source: "triage " + release.Program(), Manual: "triage"}
			return doc.GenManTree(root, header, args[0])
		},
	}
}
