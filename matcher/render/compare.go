package render

import (
	"fmt"
	"path"

	"github.com/gpu-triage/triage/matcher/compare"
)

// How much of a difference a screen gets; the JSON form has all of it.
const (
	shownDiffering = 40
	shownOneSide   = 20
	comparedWidth  = 28
)

// headings are those of the kinds of what differs.
var headings = map[compare.Kind]string{
	compare.Version: "versions", compare.Machine: "the machine and the job", compare.Environment: "environment", compare.Argument: "arguments", compare.Pace: "steps",
}

// Difference returns what differs between two jobs as a terminal shows it: what the failure hangs on first.
func Difference(d compare.Difference, style Style) string {
	p := newPage(style)
	p.hanging(0, p.paint.good("good: "), Line(d.Good))
	p.hanging(0, p.paint.confirmed("bad:  "), Line(d.Bad))
	switch {
	case d.Failure == nil:
		p.prose(2, "Nothing is known to have failed there.")
	default:
		p.hanging(2, string(d.Failure.Certainty)+"["+Line(d.Failure.ID)+"]: ", Line(d.Failure.Title))
	}
	if d.Same {
		p.line(0, "")
		p.prose(2, "The good one shows this failure too, so that nothing here need be its reason.")
	}
	asked, others := parted(d.Differs[:min(len(d.Differs), shownDiffering)])
	p.compared("differs, and the failure hangs on it", asked, d)
	for len(others) > 0 {
		n := 1
		for n < len(others) && others[n].Kind == others[0].Kind {
			n++
		}
		p.compared("differs: "+headings[others[0].Kind], others[:n], d)
		others = others[n:]
	}
	if more := len(d.Differs) - shownDiffering; more > 0 {
		p.line(4, p.paint.faint(fmt.Sprintf("and %d more; the JSON form has them all", more)))
	}
	p.compared("told by one of them only", d.OneSide[:min(len(d.OneSide), shownOneSide)], d)
	if more := len(d.OneSide) - shownOneSide; more > 0 {
		p.line(4, p.paint.faint(fmt.Sprintf("and %d more", more)))
	}
	p.line(0, "")
	p.prose(2, fmt.Sprintf("%s, %d the same.", many(len(d.Differs), "thing differs", "things differ"), d.Equal))
	return p.out.String()
}

// parted are the items that the failure hangs on, which come first, and the others.
func parted(items []compare.Item) (asked, others []compare.Item) {
	n := 0
	for n < len(items) && items[n].Asked {
		n++
	}
	return items[:n], items[n:]
}

// compared writes what two sides say of some things.
func (p *page) compared(title string, items []compare.Item, d compare.Difference) {
	p.section(title, len(items))
	if len(items) == 0 {
		return
	}
	good, bad := path.Base(Line(d.Good)), path.Base(Line(d.Bad))
	if good == bad {
		good, bad = "good", "bad"
	}
	rows := [][]string{{"", p.paint.faint(cut(good, comparedWidth)), p.paint.faint(cut(bad, comparedWidth))}}
	for _, item := range items {
		rows = append(rows, []string{p.paint.strong(cut(Line(item.Name), comparedWidth)), side(item, "bad", item.Good), side(item, "good", item.Bad)})
	}
	p.table(rows)
}

// side is what one side says of a thing, and nothing where only the other tells it.
func side(item compare.Item, other string, value any) string {
	switch {
	case item.Told == other:
		return "-"
	case value == nil && item.Kind == compare.Environment:
		return "not set"
	}
	return cut(Value(value), comparedWidth)
}

func many(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
