package matcher

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules"
)

// maxXids bounds the GPU errors of the kernel's log that are kept. A broken GPU writes the same ones for hours.
const maxXids = 500

// xidList are the errors of GPUs that the kernel's messages in a log report.
type xidList struct {
	events []rules.XidEvent
	where  string // of the first
}

func (x *xidList) add(catalogue *rules.XidCatalogue, text string, line Line) {
	event, ok := catalogue.Parse(text)
	if !ok || len(x.events) == maxXids || slices.Contains(x.events, event) {
		return
	}
	if x.where == "" {
		x.where = fmt.Sprintf("%s:%d", line.Source, line.Number)
	}
	x.events = append(x.events, event)
}

// state adds the facts that follow, unless somebody who knows more about the machine has told them.
func (x *xidList) state(facts Facts, catalogue *rules.XidCatalogue) {
	if _, told := facts["xids"]; told || len(x.events) == 0 {
		return
	}
	var list []rules.Value
	var texts []string
	gravest := rules.BlameInformation
	for i, meaning := range catalogue.Explain(x.events) {
		event := x.events[i]
		list = append(list, rules.ObjectValue(map[string]rules.Value{
			"code": rules.NumberValue(float64(event.Code)), "name": rules.StringValue(meaning.Name), "blame": rules.StringValue(string(meaning.Blame)),
			"action": rules.StringValue(meaning.Action), "bus": rules.StringValue(event.GPU), "gpu": rules.Nil,
		}))
		if meaning.Blame.Graver(gravest) {
			gravest = meaning.Blame
		}
		if text := meaning.Tell(event.Code, "the GPU at "+event.GPU); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for name, value := range map[string]rules.Value{"xids": rules.ListValue(list...), "xid_blame": rules.StringValue(string(gravest)),
		"xid_text": rules.StringValue(clip(strings.Join(texts, "; "), maxShown))} {
		facts.Add(Fact{Name: name, Value: value, Origin: FromLog, Where: x.where})
	}
}
