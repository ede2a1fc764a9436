package main

import (
	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher/report"
)

func newSchema(std streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of a report",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := std.out.Write(report.JSONSchema)
			return err
		},
	}
}
