package pace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/condition"
)

// Kind is what a comparison of steps shows.
type Kind string

// The kinds, as conditions name them.
const (
	Stopped          Kind = "stopped"            // no step comes any more
	Slower           Kind = "slower"             // from one step on each takes several times as long, to the end
	SlowerThanOthers Kind = "slower_than_others" // some processes take several times as long for a step as the others
	Working          Kind = "at_work"            // something other than steps goes on
)

// Finding is something that no line states and a comparison of steps shows.
type Finding struct {
	Kind  Kind
	Lines []logline.Line // that show it, the one where it began first
	About []logline.Line // a line of each process that it is about; empty when it is about all
	Quiet bool           // nothing comes after it that could say more

	names   []string // of the processes in About
	step    float64  // the last one, or the first slow one
	others  int      // processes that it is not about
	reached float64  // the step that the others reached

	stepless bool // the log shows no steps

	wait    time.Duration // without anything new, 0 when nobody knows
	factor  float64       // a step takes so many times as long
	seconds float64       // that a step takes now, 0 where the log tells a rate
	usual   float64       // seconds that a step took before, likewise
	data    float64       // the part of a step that waits for data, 0 when unknown
	work    aside         // that goes on beside the steps
	first   string        // the process that shows it before the others, "" when none does
}

// than is what the factor compares with.
func (f *Finding) than() string {
	if f.Kind == SlowerThanOthers {
		return fmt.Sprintf("as those of the %d others", f.others)
	}
	text := "since step " + decimal(f.step) + f.change()
	if f.data > 0 {
		text += fmt.Sprintf("; %.0f %% of it waits for data", 100*f.data)
	}
	return text
}

// change is how long a step takes and took, "" where the log tells a rate.
func (f *Finding) change() string {
	if f.seconds == 0 {
		return ""
	}
	return fmt.Sprintf(": %s instead of %s", seconds(f.seconds), seconds(f.usual))
}

// Value is the finding as conditions see it. What it does not tell is nil.
func (f *Finding) Value() condition.Value {
	members := map[string]condition.Value{"kind": condition.StringValue(string(f.Kind))}
	if len(f.names) > 0 {
		members["processes"] = condition.StringValue(named(f.names))
		members["others"] = condition.NumberValue(float64(f.others))
	}
	switch f.Kind {
	case Stopped:
		if !f.stepless {
			members["step"] = condition.NumberValue(f.step)
		}
		if len(f.names) > 0 {
			members["reached"] = condition.NumberValue(f.reached)
		}
		if f.wait > 0 {
			members["wait"] = condition.NumberShownAs(f.wait.Seconds(), spoken(f.wait))
		}
	case Slower:
		members["step"] = condition.NumberValue(f.step)
		f.describeSlowdown(members)
	case SlowerThanOthers:
		f.describeFactor(members)
	case Working:
		members["work"] = condition.StringValue(f.work.name)
		members["step"], members["steps"] = condition.NumberValue(f.work.done), condition.NumberValue(f.work.all)
	}
	return condition.ObjectValue(members)
}

// describeFactor adds how many times as long a step takes.
func (f *Finding) describeFactor(members map[string]condition.Value) {
	members["factor"] = condition.NumberShownAs(f.factor, tenths(f.factor))
	members["than"] = condition.StringValue(f.than())
}

// describeSlowdown adds what is known of steps that became slow.
func (f *Finding) describeSlowdown(members map[string]condition.Value) {
	f.describeFactor(members)
	if f.seconds > 0 {
		members["change"] = condition.StringValue(f.change())
		members["seconds"] = condition.NumberShownAs(f.seconds, seconds(f.seconds))
		members["usual_seconds"] = condition.NumberShownAs(f.usual, seconds(f.usual))
	}
	if f.data > 0 {
		members["data_percent"] = condition.NumberValue(math.RoundToEven(100 * f.data)) // as %.0f does
	}
	if f.first != "" {
		members["first"] = condition.StringValue(f.first)
	}
}

const maxNamed = 8 // processes in one finding: a sentence with more is not read

// named joins names for a sentence.
func named(names []string) string {
	text := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func tenths(n float64) string { return strconv.FormatFloat(n, 'f', 1, 64) }

func seconds(n float64) string { return strconv.FormatFloat(n, 'g', 3, 64) + " s" }

// spoken is a time as people say it.
func spoken(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%.0f seconds", d.Seconds())
	}
	if d < 2*time.Hour {
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}
