package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/spf13/cobra"
)

// maxReports bounds a file of reports, in bytes.
const maxReports = 256 << 20

func newMerge(std streams) *cobra.Command {
	var output outputFlags
	var known ruleFlags
	cmd := &cobra.Command{
		Use:   "merge REPORT.json...",
		Short: "Make one answer out of the JSON reports of many machines",
		Long: `Joins reports that triage --format json made on several machines, of the same job. A file may hold several reports;
- is standard input. Merged reports can be merged again. A report alone is shown as it is, in the form that --format says.`,
		Example: `  srun triage /local/train.log --format json >reports.json; triage merge reports.json`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := output.check(reportFormats...); err != nil {
				return err
			}
			base, err := known.load()
			if err != nil {
				return err
			}
			var reports []report.Report
			for _, name := range args {
				more, err := readReports(std, name)
				if err != nil {
					return err
				}
				reports = append(reports, more...)
			}
			merged := reports[0] // alone, it is only shown in another form
			if len(reports) > 1 {
				merged = matcher.New(base).Merge(reports...)
			}
			if err := output.show(std, &merged); err != nil {
				return err
			}
			return statusOf(&merged)
		},
	}
	output.addReport(cmd)
	known.add(cmd)
	return cmd
}

// readReports reads the reports of a file, one after the other.
func readReports(std streams, name string) ([]report.Report, error) {
	in := std.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	limited := &io.LimitedReader{R: in, N: maxReports}
	decoder := json.NewDecoder(limited)
	var reports []report.Report
	for {
		var one report.Report
		err := decoder.Decode(&one)
		switch {
		case limited.N <= 0:
			return nil, fmt.Errorf("%s: more than %d MiB of reports", name, maxReports>>20)
		case errors.Is(err, io.EOF) && len(reports) > 0:
			return reports, nil
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s: no report in this file", name)
		case err != nil:
			return nil, fmt.Errorf("%s: report %d: %w; triage --format json makes reports", name, len(reports)+1, err)
		case one.Schema != report.Schema:
			return nil, fmt.Errorf("%s: report %d is of schema %q, not %s; triage --format json makes reports", name, len(reports)+1, one.Schema, report.Schema)
		}
		reports = append(reports, one)
	}
}
