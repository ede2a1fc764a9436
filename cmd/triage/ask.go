package main

import (
	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/rules"
)

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
