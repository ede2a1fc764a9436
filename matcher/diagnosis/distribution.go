package diagnosis

import (
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/distribution"
	"github.com/gpu-triage/triage/rules/signature"
)

// askDistribution sets what brings the module that a signature asks about.
func askDistribution(s *condition.Situation, of *signature.Signature, table *distribution.Table) {
	if len(of.Distribution) == 0 {
		return
	}
	s.Set(signature.DistributionName, condition.Nil)
	for _, template := range of.Distribution {
		if known, ok := table.Of(template.Fill(s)); ok {
			s.Set(signature.DistributionName, signature.DistributionValue(known))
			return
		}
	}
}
