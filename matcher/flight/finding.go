package flight

import (
	"fmt"

	"github.com/gpu-triage/triage/rules/condition"
)

// Kind is what a comparison of dumps shows about a rank.
type Kind string

// The kinds, as conditions name them.
const (
	NoDump      Kind = "no_dump"      // others wait for the rank, which left no dump
	NeverJoined Kind = "never_joined" // others wait for the rank, which called other collectives before and then none
	NotStarted  Kind = "not_started"  // the rank called the collective that others are in, and its GPU has not begun it
	Waiting     Kind = "waiting"      // the rank called the collective, which did not complete
	Disagree    Kind = "disagree"     // the rank called something else than another one under the same number
)

// Finding is what a comparison of dumps shows about one rank at one collective.
type Finding struct {
	Kind       Kind
	Rank       int
	Dump       *Dump  // that shows it: the rank's own, or that of one who waits for it
	Group      string // the process group, by its description if it has one
	Collective int    // counts the collectives of the group from 1
	Operation  string // as nccl:all_reduce
	State      string // of a collective that is waited in: scheduled or started
	Caller     string // "function (file:line)" of the rank's last call; "" when frames were not recorded
	Calls      string // what two ranks call that disagree

	last          int // the last collective of a rank that never joined
	lastOperation string
}

// waits counts 1 for a rank that is held up, 0 for one that holds others up.
func (f Finding) waits() int {
	if f.Kind == NoDump || f.Kind == NeverJoined || f.Kind == NotStarted {
		return 0
	}
	return 1
}

// Text is the finding as evidence quotes it.
func (f Finding) Text() string {
	where := fmt.Sprintf("collective %d (%s) of group %s", f.Collective, f.Operation, f.Group)
	text := "flight recorder: "
	switch f.Kind {
	case NoDump:
		return text + fmt.Sprintf("who holds the others up: rank %d left no dump and may have died before %s", f.Rank, where)
	case NeverJoined:
		text += fmt.Sprintf("who holds the others up: rank %d never joined %s; its last was %d (%s)", f.Rank, where, f.last, f.lastOperation)
	case NotStarted:
		text += fmt.Sprintf("who holds the others up: rank %d called %s and its GPU has not begun it", f.Rank, where)
	case Waiting:
		text += fmt.Sprintf("waits in %s, rank %d, %s", where, f.Rank, f.State)
	case Disagree:
		return text + fmt.Sprintf("ranks disagree on collective %d of group %s: %s", f.Collective, f.Group, f.Calls)
	}
	return text + calledFrom(f.Caller)
}

// Value is the finding as conditions see it.
func (f Finding) Value() condition.Value {
	return condition.ObjectValue(map[string]condition.Value{
		"kind":       condition.StringValue(string(f.Kind)),
		"rank":       condition.NumberValue(float64(f.Rank)),
		"group":      condition.StringValue(f.Group),
		"collective": condition.NumberValue(float64(f.Collective)),
		"operation":  condition.StringValue(f.Operation),
		"state":      textOrNil(f.State),
		"caller":     textOrNil(f.Caller),
		"calls":      textOrNil(f.Calls),
	})
}

func textOrNil(s string) condition.Value {
	if s == "" {
		return condition.Nil
	}
	return condition.StringValue(s)
}

// by is the call in words, as that of a rank.
func (c call) by(rank int) string {
	return fmt.Sprintf("rank %d calls %s with %s%s", rank, c.op, c.sizes, calledFrom(c.from))
}

func calledFrom(caller string) string {
	if caller == "" {
		return ""
	}
	return ", called from " + caller
}
