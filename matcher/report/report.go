// Package report is the form of an answer, whose JSON is a public contract (Report), what becomes of several answers about one job
// (Merge), and what takes secrets out of an answer and of any other text (Redact). Libraries that find secrets look through source code
// and tell where they are; here they are replaced, in text that is mostly no code, and before anybody sees it.
package report

// Schema names the version of the JSON form of a Report.
const Schema = "triage.report/v1"

// Report is the answer about one set of logs. Its JSON form is a public contract.
type Report struct {
	Schema    string      `json:"schema"`
	Program   string      `json:"program"`         // the version of triage
	Knowledge string      `json:"knowledge"`       // the version of the rules, with "+own" when further ones were added
	Diagnoses []Diagnosis `json:"diagnoses"`       // the root cause first
	Ranks     []RankState `json:"ranks,omitempty"` // where each rank of a job was in the end, where several show something
	Facts     []FactValue `json:"facts"`           // everything known about the situation
	Hosts     []string    `json:"hosts,omitempty"` // where it failed, as far as the logs tell; only a server gives them
	Notes     []string    `json:"notes,omitempty"`
	Earlier   []string    `json:"earlier,omitempty"` // where answers with the same cause are, the last one first; only a server gives them
	Stats     Stats       `json:"stats"`
	Wrong     string      `json:"wrong,omitempty"` // the IssueLink, which whoever shows the report adds
}

// Diagnosis is one thing that went wrong: why, how sure we are, and what helps.
type Diagnosis struct {
	ID           string        `json:"id"`
	Title        string        `json:"title"`
	Cause        string        `json:"cause"`
	Certainty    Certainty     `json:"certainty"`
	Rank         *int          `json:"rank"`  // the rank that failed first, nil when the log names none
	Ranks        []int         `json:"ranks"` // every rank that shows this failure
	Count        int           `json:"count"` // how many times it was seen
	Evidence     []Evidence    `json:"evidence"`
	Facts        []FactValue   `json:"facts"`
	Read         []string      `json:"read,omitempty"` // the signatures that read something in the message, whose words are in Cause and Fixes
	Missing      []Missing     `json:"missing"`
	Backends     []Backend     `json:"backends,omitempty"`
	Fixes        []Fix         `json:"fixes"`
	Consequences []Consequence `json:"consequences"`
	References   []string      `json:"references"`
}

// Certainty tells how much of a diagnosis the facts bear out.
type Certainty string

// A refuted diagnosis is not shown, so it has no name here.
const (
	Confirmed   Certainty = "confirmed"   // every condition holds
	Likely      Certainty = "likely"      // a cause, of which a deciding fact is missing
	Unexplained Certainty = "unexplained" // something failed, and no known cause fits
)

// Explained tells whether the report names a cause.
func (r *Report) Explained() bool {
	return len(r.Diagnoses) > 0 && r.Diagnoses[0].Certainty != Unexplained
}

// Evidence quotes a line of a log. Line counts the \n-terminated lines of Source from 1; 0 is something that stands in no file, as a message
// of the kernel, whose Source says when it came.
type Evidence struct {
	Source string `json:"source"`
	Line   int    `json:"line"`
	Rank   *int   `json:"rank"`
	Text   string `json:"text"`
}

// FactValue is a fact with where it is from: Source is "user", "log", "prose" or "live", Where a line of a log or a command.
type FactValue struct {
	Name   string `json:"name"`
	Value  any    `json:"value"` // null: known to be absent
	Source string `json:"source"`
	Where  string `json:"where,omitempty"`
}

// Missing is a fact that would decide, and the command that tells it.
type Missing struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	How  string `json:"how"`
}

// Backend is what the backend rules say of one implementation: allowed, disabled or unknown.
type Backend struct {
	Name    string        `json:"name"`
	Verdict string        `json:"verdict"`
	Rules   []BackendRule `json:"rules"`
	Missing []string      `json:"missing,omitempty"`
}

// BackendRule is one rule that disables (or, with a fact missing, may disable) a backend.
type BackendRule struct {
	ID      string `json:"id"`
	Because string `json:"because"`
	Source  string `json:"source"`
}

// Consequence is a later failure that the diagnosis explains.
type Consequence struct {
	Title string `json:"title"`
	Line  int    `json:"line"`
	Ranks []int  `json:"ranks"`
}

// Stats tells what was read.
type Stats struct {
	Bytes          int64 `json:"bytes"`
	Lines          int64 `json:"lines"`
	TruncatedLines int64 `json:"truncated_lines"`
	ElapsedMS      int64 `json:"elapsed_ms"`
	Incomplete     bool  `json:"incomplete,omitempty"`
}
