package bots

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/report"
)

// Recurrence remembers which causes were told where, for as long as the store keeps a state, and tells when one comes again: a machine that
// is ill is the commonest cause that no single log shows.
type Recurrence struct {
	Store   *queue.Store
	Metrics *Metrics
}

// Place is where an answer is given. Nothing that was told in one scope is told in another.
type Place struct {
	Scope    string // those who read the answer may read all that is told in it: a channel, a repository, the posted logs
	Question string // within the scope; who asks again asks the same
}

// sighting is a cause that was told once.
type sighting struct {
	Question  string    `json:"question"`
	Log       string    `json:"log"`   // the same for the same log
	Cause     string    `json:"cause"` // the signature, and where in the user's code it shows
	Signature string    `json:"signature"`
	Node      string    `json:"node,omitempty"`
	At        time.Time `json:"at"`
	Link      string    `json:"link,omitempty"`
}

// Sighting is a cause that is about to be told.
type Sighting struct {
	key   string
	known bool // the question or the log was answered before
	sighting
}

// maxSightings bounds those of one scope that are compared, the latest.
const maxSightings = 300

// Tell puts what was seen before of a report's cause in front of its notes, with links to it. Only a cause that is known comes again. The
// sighting is to be kept.
func (r Recurrence) Tell(ctx context.Context, place Place, answer *report.Report) (seen Sighting, err error) {
	if !answer.Explained() || r.Store == nil {
		return seen, nil
	}
	first := answer.Diagnoses[0]
	seen.sighting = sighting{
		Question: place.Question, Log: logOf(answer), Cause: first.ID + "\x00" + userFrame(first), Signature: first.ID, Node: nodeOf(answer), At: time.Now().UTC(),
	}
	class := classOf(place.Scope)
	seen.key = class + ":" + place.Question
	kept, err := r.Store.Latest(ctx, class, maxSightings)
	if err != nil {
		return Sighting{}, err
	}
	var before []sighting
	for _, data := range kept {
		var s sighting
		switch {
		case json.Unmarshal(data, &s) != nil:
		case s.Question == seen.Question && s.Cause == seen.Cause:
			seen.known, seen.At = true, s.At
		case s.Log == seen.Log:
			seen.known = true
		case s.Question != seen.Question:
			before = append(before, s)
		}
	}
	slices.SortFunc(before, func(a, b sighting) int { return a.At.Compare(b.At) })
	logs := make(map[string]bool) // one that was shown twice failed once
	before = slices.DeleteFunc(before, func(s sighting) bool {
		again := logs[s.Log]
		logs[s.Log] = true
		return again
	})
	same := slices.DeleteFunc(slices.Clone(before), func(s sighting) bool { return s.Cause != seen.Cause })
	said := []string{again(same, seen.sighting), ill(before, seen.sighting)}
	said = slices.DeleteFunc(said, func(note string) bool { return note == "" })
	answer.Notes, answer.Earlier = append(said, answer.Notes...), links(same)
	return seen, nil
}

// Keep remembers a cause that was told, and counts it. Link is where those of the scope find the answer, "" when nowhere.
func (r Recurrence) Keep(ctx context.Context, seen Sighting, link string) error {
	if seen.key == "" {
		return nil
	}
	if !seen.known {
		r.Metrics.Caused(seen.Signature, seen.Node)
	}
	seen.Link = link
	return r.Store.Save(ctx, seen.key, seen.sighting)
}

// classOf is the class of the keys of a scope's sightings.
func classOf(scope string) string {
	sum := sha256.Sum256([]byte(scope))
	return "seen-" + hex.EncodeToString(sum[:12])
}

// logOf is the same for the same log, whoever shows it.
func logOf(answer *report.Report) string {
	var text strings.Builder
	fmt.Fprintln(&text, answer.Stats.Lines, answer.Stats.Bytes)
	for _, e := range answer.Diagnoses[0].Evidence {
		fmt.Fprintln(&text, e.Line, e.Text)
	}
	sum := sha256.Sum256([]byte(text.String()))
	return hex.EncodeToString(sum[:16])
}

// userFrame is where in the user's code a diagnosis shows, without the number of the line, which every change moves.
func userFrame(d report.Diagnosis) string {
	for _, e := range d.Evidence {
		file, rest, ok := strings.Cut(e.Text, ", line ")
		_, function, in := strings.Cut(rest, ", in ")
		if ok && in && strings.HasPrefix(file, "File ") {
			function, _, _ = strings.Cut(function, ":")
			return file + " " + function
		}
	}
	return ""
}

// nodeOf is the node on which it failed, "" when it is not one that the log names.
func nodeOf(answer *report.Report) string {
	if len(answer.Hosts) != 1 {
		return ""
	}
	return answer.Hosts[0]
}

// maxLinks bounds the earlier answers that are linked.
const maxLinks = 3

// again says how many times a cause was seen, since when and where.
func again(same []sighting, now sighting) string {
	if len(same) == 0 {
		return ""
	}
	text := fmt.Sprintf("This is the %s time since %s", humanize.Ordinal(len(same)+1), day(same[0].At, now.At))
	nodes := map[string]int{now.Node: 1}
	for _, s := range same {
		nodes[s.Node]++
	}
	delete(nodes, "")
	node, most := commonest(nodes)
	switch {
	case most == len(same)+1:
		text += ", each time on node " + node
	case most > 1:
		text += fmt.Sprintf(", %d of them on node %s", most, node)
	}
	return text + "."
}

// links are where the latest of some sightings were told, the last one first.
func links(same []sighting) (at []string) {
	for _, s := range slices.Backward(same) {
		if s.Link != "" && !slices.Contains(at, s.Link) && len(at) < maxLinks {
			at = append(at, s.Link)
		}
	}
	return at
}

// When a node stands out: so many failures within a week, of so many kinds, and so many times as many as any other node.
const (
	illFailures = 3
	illKinds    = 2
	illFactor   = 3
	illWithin   = 7 * 24 * time.Hour
)

// ill says that a node fails in several ways where the others do not: then the machine is suspected, whatever each log says.
func ill(before []sighting, now sighting) string {
	if now.Node == "" {
		return ""
	}
	failures := map[string]int{now.Node: 1}
	kinds := map[string]bool{now.Signature: true}
	for _, s := range before {
		if s.Node == "" || now.At.Sub(s.At) > illWithin {
			continue
		}
		failures[s.Node]++
		if s.Node == now.Node {
			kinds[s.Signature] = true
		}
	}
	here := failures[now.Node]
	delete(failures, now.Node)
	_, others := commonest(failures)
	if here < illFailures || len(kinds) < illKinds || here < illFactor*others {
		return ""
	}
	text := fmt.Sprintf("Node %s failed %d times within a week, in %d ways", now.Node, here, len(kinds))
	if others > 0 {
		text += fmt.Sprintf("; no other node more than %s", times(others))
	}
	return text + ". Suspect the machine: take it out and test it (`dcgmi diag -r 3`)."
}

// commonest is the name with the largest number, the first of several in their order.
func commonest(counts map[string]int) (name string, most int) {
	for n, count := range counts {
		if count > most || count == most && cmp.Less(n, name) {
			name, most = n, count
		}
	}
	return name, most
}

// day names a day as people do: by its weekday within a week, else by its date.
func day(then, now time.Time) string {
	switch age := now.Sub(then); {
	case then.YearDay() == now.YearDay() && age < 24*time.Hour:
		return then.Format("15:04") + " UTC"
	case age < 6*24*time.Hour:
		return then.Weekday().String()
	}
	return then.Format("2 January")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
