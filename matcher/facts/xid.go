package facts

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/xid"
)

// maxXids bounds the GPU errors of the kernel's log that are kept. A broken GPU writes the same ones for hours.
const maxXids = 500

// maxXidText bounds what is said of them, in bytes.
const maxXidText = 2000

// Xids are the errors of GPUs that the kernel's messages in a log report.
type Xids struct {
	events []xid.Event
	where  string // of the first
}

// Add takes the error that a line of the kernel reports, if it is one and none like it came before.
func (x *Xids) Add(catalogue *xid.Catalogue, text string, line logline.Line) {
	event, ok := catalogue.Parse(text)
	if !ok || len(x.events) == maxXids || slices.Contains(x.events, event) {
		return
	}
	if x.where == "" {
		x.where = place(line)
	}
	x.events = append(x.events, event)
}

// State adds the facts that follow, unless somebody who knows more about the machine has told them.
func (x *Xids) State(facts Facts, catalogue *xid.Catalogue) {
	if _, told := facts["xids"]; told || len(x.events) == 0 {
		return
	}
	var list []condition.Value
	var texts []string
	gravest := xid.BlameInformation
	for i, meaning := range catalogue.Explain(x.events) {
		event := x.events[i]
		list = append(list, condition.ObjectValue(map[string]condition.Value{
			"code": condition.NumberValue(float64(event.Code)), "name": condition.StringValue(meaning.Name), "blame": condition.StringValue(string(meaning.Blame)),
			"action": condition.StringValue(meaning.Action), "bus": condition.StringValue(event.GPU), "gpu": condition.Nil,
		}))
		if meaning.Blame.Graver(gravest) {
			gravest = meaning.Blame
		}
		text := meaning.Tell(event.Code, "the GPU at "+event.GPU)
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for name, value := range map[string]condition.Value{
		"xids": condition.ListValue(list...), "xid_blame": condition.StringValue(string(gravest)),
		"xid_text": condition.StringValue(logline.Clip(strings.Join(texts, "; "), maxXidText)),
	} {
		facts.Add(Fact{Name: name, Value: value, Source: FromLog, Where: x.where})
	}
}
