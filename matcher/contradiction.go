package matcher

import (
	"fmt"
	"sort"
	"strings"

	"github.com/gpu-triage/triage/rules"
)

// contradictions are sentences about what the machine says otherwise than the log: since the job ran, something was changed.
func contradictions(live []Fact, found map[string]Fact, v *rules.Vocabulary) []string {
	var notes []string
	for _, now := range live {
		then, ok := found[now.Name]
		if now.Origin != FromLive || !ok {
			continue
		}
		info, _ := v.Fact(now.Name)
		if !changed(info, then.Value, now.Value) {
			continue
		}
		if now.Value.JSON() == nil {
			notes = append(notes, fmt.Sprintf("The log has %s %v (%s); now there is none (%s). The answer is about the log.", now.Name, then.Value.JSON(), then.Where, now.Where))
			continue
		}
		notes = append(notes, fmt.Sprintf("The log has %s %v (%s); now it is %v (%s). The answer is about the log.",
			now.Name, then.Value.JSON(), then.Where, now.Value.JSON(), now.Where))
	}
	sort.Strings(notes)
	return notes
}

// changed tells whether a fact that a machine keeps, a version or a model, is another now. A shorter version agrees with the longer
// one that it begins: 9.1.0 with 9.1.0.70, 2.6.0 with 2.6.0+cu124.
func changed(info rules.FactInfo, then, now rules.Value) bool {
	if info.Type != rules.VersionType {
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
