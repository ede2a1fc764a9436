package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
)

// rankStates are the states of ranks in the order in which they are told, with their words.
var rankStates = []struct{ state, words string }{
	{report.RankFailed, "failed"},
	{report.RankMissing, "did not come"},
	{report.RankWaited, "waited"},
	{report.RankAfter, "ended afterwards"},
	{report.RankRan, "went on"},
	{report.RankSilent, "no line names it"},
}

// failedFirst says of the rank of the root cause that it is that.
const failedFirst = "failed first"

// stateWords says what a rank did, and in which order that is told.
func stateWords(r *report.Report, one report.RankState) (words string, order int) {
	if one.State == report.RankFailed && len(r.Diagnoses) > 0 && r.Diagnoses[0].Rank != nil && *r.Diagnoses[0].Rank == one.Rank {
		return failedFirst, 0
	}
	i := slices.IndexFunc(rankStates, func(known struct{ state, words string }) bool { return known.state == one.State })
	if i < 0 {
		return Line(one.State), len(rankStates) + 1
	}
	return rankStates[i].words, i + 1
}

// rankRow is what several ranks did alike.
type rankRow struct {
	Ranks, State, Step, Sign, Where string

	order int
	ranks []int
	line  int // the first of the signs
}

// maxRankRows bounds them; the JSON form has all ranks.
const maxRankRows = 40

// rankRows tells what the ranks did, those together that did the same, those that failed first.
func rankRows(r *report.Report) []rankRow {
	var rows []rankRow
	index := make(map[string]int)
	for _, one := range r.Ranks {
		row := rankRow{}
		row.State, row.order = stateWords(r, one)
		if one.Step != nil {
			row.Step = Line(one.Step.Text)
		}
		if one.Sign != nil {
			row.Sign, row.line = Line(one.Sign.Text), one.Sign.Line
		}
		key := strings.Join([]string{row.State, row.Step, row.Sign}, "\x00")
		i, met := index[key]
		if !met {
			i = len(rows)
			index[key], rows = i, append(rows, row)
		}
		rows[i].ranks = append(rows[i].ranks, one.Rank)
		rows[i].line = min(rows[i].line, row.line)
	}
	slices.SortStableFunc(rows, func(a, b rankRow) int { return cmp.Compare(a.order, b.order) })
	for i := range rows {
		rows[i].Ranks = rankList(rows[i].ranks)
		if rows[i].line > 0 {
			rows[i].Where = fmt.Sprintf("line %d", rows[i].line)
		}
	}
	return rows[:min(len(rows), maxRankRows)]
}

// ranks writes what the ranks did.
func (p *page) ranks(r *report.Report) {
	rows := rankRows(r)
	p.section("ranks", len(rows))
	for _, row := range rows {
		said := row.State
		if row.Sign != "" {
			said += ": " + row.Sign
		}
		if row.Where != "" {
			said += " (" + row.Where + ")"
		}
		if row.Step != "" {
			said += "; last seen at " + row.Step
		}
		p.hanging(4, p.paint.strong(row.Ranks)+"  ", said)
	}
}

// The picture of the ranks, in the units of its own.
const (
	pictureWidth = 800
	pictureLeft  = 80
	pictureRight = 640
	pictureRow   = 24
	pictureRanks = 64 // more are told in words alone
)

// rankPicture shows the ranks over time.
type rankPicture struct {
	Width, Height, From, To, Foot int
	First, Last                   string // what the ends of the axis are
	Rows                          []pictureRank
}

// pictureRank is the row of a rank.
type pictureRank struct {
	Label, State, About     string
	From, To, Y, Text, Note int
	Step, Sign              *pictureMark
}

// pictureMark is a moment of a rank.
type pictureMark struct {
	X, Y, From int
	Class      string
	Waits      bool // up to then
}

// pictureOf draws the ranks of a report, or nothing where nothing orders their moments: no clock, and several files.
func pictureOf(r *report.Report) *rankPicture {
	place, first, last, ok := axis(r.Ranks)
	if !ok || len(r.Ranks) > pictureRanks {
		return nil
	}
	picture := &rankPicture{Width: pictureWidth, From: pictureLeft, To: pictureRight, First: first, Last: last}
	for i, one := range r.Ranks {
		words, _ := stateWords(r, one)
		y := pictureRow/2 + i*pictureRow
		row := pictureRank{Label: fmt.Sprintf("rank %d", one.Rank), State: words, From: pictureLeft, To: pictureRight, Y: y, Text: y + 4, Note: pictureRight + 12}
		row.About = row.Label + " " + words
		start := pictureLeft
		if one.Step != nil {
			row.Step = &pictureMark{X: place(one.Step), Y: y, From: start}
			row.About += ", last seen at " + Line(one.Step.Text)
			start = row.Step.X
		}
		if one.Sign != nil && one.State != report.RankMissing {
			row.Sign = &pictureMark{X: place(one.Sign), Y: y, From: start, Class: "told", Waits: one.State == report.RankWaited}
			row.About += ": " + Line(one.Sign.Text)
			switch words {
			case failedFirst:
				row.Sign.Class = "first"
			case "failed":
				row.Sign.Class = "failed"
			}
		}
		picture.Rows = append(picture.Rows, row)
	}
	picture.Foot = len(r.Ranks)*pictureRow + 14
	picture.Height = picture.Foot + 8
	return picture
}

// axis orders the moments of ranks: by the clock where all have it, or by their lines in one file.
func axis(ranks []report.RankState) (place func(*report.Moment) int, first, last string, ok bool) {
	var moments []*report.Moment
	for _, one := range ranks {
		if one.Step != nil {
			moments = append(moments, one.Step)
		}
		if one.Sign != nil && one.State != report.RankMissing {
			moments = append(moments, one.Sign)
		}
	}
	if len(moments) == 0 {
		return nil, "", "", false
	}
	timeless := func(m *report.Moment) bool { return m.At == nil }
	elsewhere := func(m *report.Moment) bool { return m.Source != moments[0].Source }
	value := func(m *report.Moment) float64 { return float64(m.Line) }
	switch {
	case !slices.ContainsFunc(moments, timeless):
		value = func(m *report.Moment) float64 { return *m.At }
	case slices.ContainsFunc(moments, elsewhere):
		return nil, "", "", false
	}
	low, high := value(moments[0]), value(moments[0])
	for _, m := range moments {
		low, high = min(low, value(m)), max(high, value(m))
	}
	first, last = fmt.Sprintf("line %.0f", low), fmt.Sprintf("line %.0f", high)
	if !timeless(moments[0]) && !slices.ContainsFunc(moments, timeless) {
		first, last = "0 s", fmt.Sprintf("%.4g s", high-low)
	}
	const margin = 24 // so that no mark hides the end of a track
	place = func(m *report.Moment) int {
		if high == low {
			return pictureRight - margin
		}
		return pictureLeft + margin + int((value(m)-low)/(high-low)*(pictureRight-pictureLeft-2*margin))
	}
	return place, first, last, true
}
