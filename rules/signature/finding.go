package signature

import "github.com/gpu-triage/triage/rules/condition"

// The names by which conditions know what no line states and a comparison shows. Each is an object in the event of such a finding, and
// nil in every other event.
const (
	PaceFinding   = "pace"   // how the steps of processes go on over time
	FlightFinding = "flight" // where the dumps of NCCL's flight recorder part, or what its watchdogs print
	FailedFinding = "failed" // what failed by the form of the lines: the event's line is the first that the failure itself printed
	PostFinding   = "post"   // what the author of a post has found out about a failure of which no line is shown
)

// FindingShapes are the members of each finding, by its name. What a finding does not tell is nil.
func FindingShapes() map[string]condition.Shape {
	text, number := condition.Shape{Type: condition.String}, condition.Shape{Type: condition.Number}
	return map[string]condition.Shape{
		PaceFinding: {Type: condition.Object, Members: map[string]condition.Shape{
			"kind":          text,   // stopped, slower, slower_than_others, or at_work
			"processes":     text,   // names of those that it is about; nil when it is about all
			"step":          number, // the last one, or the first slow one; nil where the log shows no steps
			"others":        number, // processes that it is not about
			"reached":       number, // the step that the others reached
			"work":          text,   // something other than steps, as its progress bar names it
			"steps":         number, // how many there are of it
			"wait":          number, // seconds without anything new
			"factor":        number, // a step takes so many times as long
			"than":          text,   // what the factor compares with: "since step 41: 1.2 s instead of 0.3 s", "as those of the 3 others"
			"change":        text,   // ": 1.2 s instead of 0.3 s"; nil where the log tells a rate
			"seconds":       number, // that a step takes now; nil where the log tells a rate
			"usual_seconds": number, // that a step took before; nil where the log tells a rate
			"data_percent":  number, // of a step's time that waits for data
			"first":         text,   // the process that showed it before the others
		}},
		FlightFinding: {Type: condition.Object, Members: map[string]condition.Shape{
			"kind":       text,   // no_dump, never_joined, not_started, silent, waiting or disagree
			"rank":       number, // the one that it is about
			"group":      text,   // the process group
			"collective": number, // counts the collectives of the group from 1
			"operation":  text,   // of the collective, as nccl:all_reduce
			"state":      text,   // of a collective that is waited in: scheduled or started
			"caller":     text,   // function, file and line of the rank's last call, when frames were recorded
			"calls":      text,   // what two ranks call that disagree
		}},
		FailedFinding: {Type: condition.Object, Members: map[string]condition.Shape{
			"tool": text, // that printed the line, as tools.yaml names it; nil when none is known to print such a line
			"step": text, // of the CI job
			"last": text, // the last word of what had called the tool
			// "an error that was logged", "a warning" or "a quoted message": all that somebody shows who asks about a failure; nil else
			"asked": text,
		}},
		PostFinding: {Type: condition.Object, Members: map[string]condition.Shape{
			"says":    text, // the sentence that tells it
			"release": text, // that works, or that fails, of a package that was changed; nil where the sentence is any other of the post
		}},
	}
}

// SetFinding makes the event of a situation one that a comparison shows. The name is one of the constants, or "" for an event that is
// none.
func SetFinding(s *condition.Situation, name string, finding condition.Value) {
	s.Set(PaceFinding, condition.Nil)
	s.Set(FlightFinding, condition.Nil)
	s.Set(FailedFinding, condition.Nil)
	s.Set(PostFinding, condition.Nil)
	if name != "" {
		s.Set(name, finding)
	}
}

// about is the finding that the match of a signature asks about, or "".
func about(match []*condition.Expression) string {
	for _, c := range match {
		for _, name := range c.Names() {
			if name == PaceFinding || name == FlightFinding || name == FailedFinding || name == PostFinding {
				return name
			}
		}
	}
	return ""
}

// keywords notes what is wrong with a signature's literals for what it is asked about.
func (l *loader) keywords(s *Signature, f *signatureFile) {
	finding := about(s.Match)
	literals := len(s.Keywords) + len(s.Last)
	switch {
	case finding != "" && literals > 0:
		l.Problem(f.ID.Line, f.ID.Column, "a signature that asks about %s is asked about comparisons, not lines: take keywords: and last: out", finding)
	case finding == PaceFinding && s.Role != Inferred:
		l.Problem(f.ID.Line, f.ID.Column, "a signature that asks about %s has the role %s", finding, Inferred)
	case finding != PaceFinding && s.Role == Inferred && len(s.Match) == len(f.Match): // else the mistake is in a condition
		l.Problem(f.ID.Line, f.ID.Column, "a signature of the role %s asks about %s under match:, as in: pace.kind == \"slower\"", s.Role, PaceFinding)
	case finding == "" && literals == 0 && !s.Role.LastResort() && s.Role != Message && s.Role != Inferred: // those are asked about every exception or about the answer
		l.Problem(f.ID.Line, f.ID.Column, "a signature needs keywords: literals, one of which stands in every line or message that it matches")
	}
}
