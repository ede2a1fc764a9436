package diagnosis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// contradiction is a fact that the machine states otherwise than the log: since the job ran, something was changed.
type contradiction struct{ then, now facts.Fact }

// contradictions are those between facts of the machine and facts that the logs state, by the names of the facts.
func contradictions(live []facts.Fact, found map[string]facts.Fact, v *fact.Vocabulary) []contradiction {
	var list []contradiction
	for _, now := range live {
		then, ok := found[now.Name]
		info, _ := v.Fact(now.Name)
		if ok && now.Source == facts.FromLive && changed(info, then.Value, now.Value) {
			list = append(list, contradiction{then, now})
		}
	}
	slices.SortFunc(list, func(a, b contradiction) int { return strings.Compare(a.now.Name, b.now.Name) })
	return list
}

func (c contradiction) note() string {
	now := "there is none"
	if value := c.now.Value.JSON(); value != nil {
		now = fmt.Sprintf("it is %v", value)
	}
	return fmt.Sprintf("The log has %s %v (%s); now %s (%s). The answer is about the log.", c.now.Name, c.then.Value.JSON(), c.then.Where, now, c.now.Where)
}

// today tells whether a library would choose another backend with what the machine has now. It is silent when that is not certain.
func today(base *rules.Base, name string, s situation) []string {
	library, err := base.Library(name)
	if err != nil || library == nil || len(s.changed) == 0 {
		return nil
	}
	usual, _ := library.Usual(s.facts.Values())
	then := library.Evaluate(usual)
	for _, c := range s.changed {
		usual[c.now.Name] = c.now.Value
	}
	now := library.Evaluate(usual)
	if !then.Decided || !now.Decided || then.Selected == now.Selected {
		return nil
	}
	return []string{fmt.Sprintf("With what this machine has now, %s would use %s instead of %s.", library.Name, named(now.Selected), named(then.Selected))}
}

func named(backend string) string {
	if backend == "" {
		return "no backend"
	}
	return backend
}

// changed tells whether a fact that a machine keeps, a version or a model, is another now. A shorter version agrees with the longer
// one that it begins: 9.1.0 with 9.1.0.70, 2.6.0 with 2.6.0+cu124.
func changed(info fact.Info, then, now condition.Value) bool {
	if info.Type != condition.VersionType {
		return false
	}
	a, aIsText := then.JSON().(string)
	b, bIsText := now.JSON().(string)
	if !aIsText || !bIsText {
		return aIsText // not installed any more
	}
	return !begins(a, b) && !begins(b, a)
}

func begins(long, short string) bool {
	rest, ok := strings.CutPrefix(long, short)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '+')
}
