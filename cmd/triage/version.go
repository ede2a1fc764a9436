package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/release"
)

// versions is `triage version --format json`.
type versions struct {
	Program   string `json:"program"`
	Knowledge string `json:"knowledge"`
	Format    int    `json:"knowledge_format"` // the newest form of rules that the program reads
	Go        string `json:"go"`
	Platform  string `json:"platform"`
}

// oneLine is what --version and the command without flags print.
func (v versions) oneLine() string {
	return fmt.Sprintf("triage %s, knowledge %s, %s, %s\n", v.Program, v.Knowledge, v.Go, v.Platform)
}

// versionsOf are the versions with a knowledge base.
func versionsOf(base *rules.Base) versions {
	return versions{release.Program(), base.Version(), rules.Format, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func newVersion(std streams) *cobra.Command {
	var output outputFlags
	var known ruleFlags
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this program and of its knowledge",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := output.check("text", "json"); err != nil {
				return err
			}
			base, err := known.load()
			if err != nil {
				return err
			}
			v := versionsOf(base)
			if output.format == "json" {
				return writeJSON(std.out, v)
			}
			_, err = fmt.Fprint(std.out, v.oneLine())
			return err
		},
	}
	output.add(cmd, "text", "json")
	known.add(cmd)
	return cmd
}
