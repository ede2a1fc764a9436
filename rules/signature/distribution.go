package signature

import (
	"slices"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/distribution"
)

// DistributionName is the name by which a signature with distribution: knows what brings the module that is missing. It is nil when the
// table does not have the module.
const DistributionName = "distribution"

// DistributionShape are its members. What does not apply is unknown.
func DistributionShape() condition.Shape {
	text, truth := condition.Shape{Type: condition.String}, condition.Shape{Type: condition.Bool}
	return condition.Shape{Type: condition.Object, Members: map[string]condition.Shape{
		"install":    text,  // what pip is told to install
		"repository": text,  // where the source is that it is built from
		"folder":     text,  // what is installed of a clone of it
		"with_torch": truth, // its build imports torch
		"say":        text,  // what else one has to know
		"system":     text,  // packages of the system that bring a program
		"own":        truth, // a name that projects give to modules of their own
	}}
}

// DistributionValue is a distribution as conditions see it.
func DistributionValue(of distribution.Distribution) condition.Value {
	members := map[string]condition.Value{"own": condition.BoolValue(of.Own), "with_torch": condition.BoolValue(of.WithTorch)}
	for name, text := range map[string]string{"install": of.Install, "repository": of.Repository, "folder": of.Folder(), "say": of.Say, "system": of.System} {
		if text != "" {
			members[name] = condition.StringValue(text)
		}
	}
	return condition.ObjectValue(members)
}

// distributionIsAsked notes a condition about a distribution that the signature does not ask for.
func (l *loader) distributionIsAsked(s *Signature, f *signatureFile) {
	about := func(e *condition.Expression) bool { return slices.Contains(e.Names(), DistributionName) }
	if len(s.Distribution) == 0 && (slices.ContainsFunc(s.Match, about) || slices.ContainsFunc(s.Confirm, about)) {
		l.Problem(f.ID.Line, f.ID.Column, "a condition asks about distribution, and no module stands under distribution:, as in distribution: [\"{module}\"]")
	}
}
