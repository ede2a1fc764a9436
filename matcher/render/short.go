package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/gpu-triage/triage/matcher/report"
)

// How many rows each part of a short answer gets, together about what a terminal shows beside the prompt. What one part does not need, the fix
// gets, whose commands can do harm by half, and then the cause.
const (
	allRows    = 28
	headRows   = 2 // verdict and title
	quoteRows  = 2 // of the line that decides; its place and the user's own frame take one each
	causeRows  = 3
	fixRows    = 5 // what to do and its commands
	secondRows = 7 // what else to do and its commands
	noteRows   = 2 // which the cause goes without
)

// Short returns r as a terminal shows it in at most 28 rows of eighty columns: the verdict, the line that decides and the frame in the
// user's own code, why, the two best fixes, and one command that leads on. Text has all of it.
func Short(r *report.Report, style Style) string {
	p := newPage(style)
	notes := p.firstNote(remarks(r))
	if len(r.Diagnoses) == 0 {
		p.silence(r)
	} else {
		p.short(r, len(notes), style.Logs)
	}
	for _, row := range notes {
		p.line(0, row)
	}
	return p.out.String()
}

// firstNote are the rows of the first note.
func (p *page) firstNote(notes []string) []string {
	if len(notes) == 0 {
		return nil
	}
	label, more := "note: ", ""
	if len(notes) > 1 {
		more = fmt.Sprintf(" (-v: %d more)", len(notes)-1)
	}
	rows := firstRows(notes[0]+more, p.width-len(label), noteRows)
	for i := range rows {
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		rows[i] = p.paint.note(label) + rows[i]
	}
	return rows
}

// short writes the root cause. So many rows of notes follow.
func (p *page) short(r *report.Report, notes int, logs string) {
	d, others := r.Diagnoses[0], r.Diagnoses[1:]
	also := min(1, len(others))
	rowsOfCause := max(1, causeRows-notes-also)
	label, title := p.verdict(d), cmp.Or(withRank(d, r.Facts), Line(d.ID))
	head, quote := headRows, quoteRows
	if showsTitle(d) { // once is enough, and best as the log has it
		head, quote = 1, head+quote-1
	}
	for _, row := range firstRows(title, p.width-ansi.StringWidth(label), head) {
		p.line(0, label+p.paint.strong(row))
		label = strings.Repeat(" ", ansi.StringWidth(label))
	}
	p.decides(d, quote)
	const blank = 2 // rows, before the cause and before the fix
	second := p.secondFix(d.Fixes)
	left := allRows - strings.Count(p.out.String(), "\n") - blank - p.height(second) - also - 1 - notes
	cause := firstSentences(d.Cause, p.width-2, rowsOfCause)
	fix := p.bestFix(d.Fixes, left-len(cause))
	cause = firstSentences(d.Cause, p.width-2, max(rowsOfCause, left-p.height(fix)))
	for _, part := range [][]string{cause, append(fix, second...)} {
		if len(part) > 0 {
			p.line(0, "")
		}
		for _, row := range part {
			p.line(2, row)
		}
	}
	if len(others) > 0 {
		more := ""
		if len(others) > 1 {
			more = fmt.Sprintf(" (-v: %d more)", len(others)-1)
		}
		p.line(2, p.paint.heading("also: ")+clip(Line(others[0].Title), p.width-len("  also: ")-len(more))+more)
	}
	p.next(d, logs)
}

// withRank is a title with the rank that failed first, and of how many.
func withRank(d report.Diagnosis, known []report.FactValue) string {
	title := Line(d.Title)
	if d.Rank == nil || title == "" {
		return title
	}
	title += fmt.Sprintf(", rank %d", *d.Rank)
	i := slices.IndexFunc(known, func(f report.FactValue) bool { return f.Name == "world_size" })
	if i >= 0 {
		title += " of " + Value(known[i].Value)
	}
	return title
}

// showsTitle tells whether the line that decides is also the title, as where no cause is named.
func showsTitle(d report.Diagnosis) bool {
	const told = 40 // bytes that no two lines have in common by chance
	title := Line(d.Title)
	return len(d.Evidence) > 0 && strings.HasPrefix(Line(d.Evidence[0].Text), title[:min(len(title), told)])
}

// decides quotes the line that decides, in so many rows, and the frame that is shown with it, in the order of the log.
func (p *page) decides(d report.Diagnosis, rows int) {
	if len(d.Evidence) == 0 {
		return
	}
	first := d.Evidence[0]
	quotes := []report.Evidence{first}
	isFrame := func(e report.Evidence) bool { return strings.HasPrefix(e.Text, "File ") && samePlace(e, first) }
	if i := slices.IndexFunc(d.Evidence[1:], isFrame); i >= 0 {
		quotes = append(quotes, d.Evidence[1+i])
	}
	slices.SortStableFunc(quotes, func(a, b report.Evidence) int { return a.Line - b.Line })
	gutter := 0
	for _, e := range quotes {
		gutter = max(gutter, len(fmt.Sprint(e.Line)))
	}
	where := place(first)
	if len(d.Ranks) > 1 || d.Count > 1 {
		where = place(report.Evidence{Source: first.Source, Line: first.Line}) + " [" + spread(d) + "]"
	}
	p.line(gutter, p.paint.gutter("--> ")+clip(where, p.width-gutter-len("--> ")))
	for _, e := range quotes {
		edge := fmt.Sprintf("%*d | ", gutter, e.Line)
		if e.Line == 0 {
			edge = strings.Repeat(" ", gutter) + " | "
		}
		most := 1
		if e == first {
			most = rows
		}
		for _, row := range firstOf(quoted(e.Text, p.width-len(edge)), p.width-len(edge), most) {
			if e == first {
				row = p.paint.strong(row)
			}
			p.line(0, p.paint.gutter(edge)+row)
			edge = strings.Repeat(" ", gutter) + " | "
		}
	}
}

// next writes the command that leads on, and what more there is to read.
func (p *page) next(d report.Diagnosis, logs string) {
	if ansi.StringWidth(logs) > p.width/2 {
		logs = ""
	}
	command := "triage explain " + Line(d.ID)
	asked := slices.IndexFunc(d.Missing, func(m report.Missing) bool { return m.Name != "log" })
	switch {
	case d.Certainty == report.Unexplained:
		command = "triage rules new " + cmp.Or(logs, "LOG")
	case d.Certainty == report.Likely && asked >= 0:
		command = "triage " + cmp.Or(logs, "LOG") + " --fact " + Line(d.Missing[asked].Name) + "=..."
	}
	row := p.paint.heading("next: ") + p.paint.command(command)
	if more := furtherParts(d); more != "" && ansi.StringWidth(row)+len("   -v: ")+2+len(more) <= p.width {
		row += p.paint.faint("   -v: " + more)
	}
	p.line(2, row)
}

// furtherParts tells what of a diagnosis the short form leaves out.
func furtherParts(d report.Diagnosis) string {
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{len(d.Fixes) - 2, "1 more fix", "%d more fixes"}, {len(d.Missing), "1 question", "%d questions"},
		{len(d.Backends), "1 backend", "%d backends"}, {len(d.Consequences), "1 consequence", "%d consequences"},
	} {
		switch {
		case part.n == 1:
			parts = append(parts, part.one)
		case part.n > 1:
			parts = append(parts, fmt.Sprintf(part.many, part.n))
		}
	}
	return strings.Join(parts, ", ")
}

// firstRows are the first rows of a text; the last ends with an ellipsis where there are more.
func firstRows(text string, width, most int) []string { return firstOf(wrap(text, width), width, most) }

func firstOf(rows []string, width, most int) []string {
	if len(rows) <= most {
		return rows
	}
	rows = slices.Clone(rows[:most])
	rows[most-1] = ansi.Truncate(rows[most-1]+" "+strings.Repeat("…", width), width-2, "") // room for what follows
	rows[most-1] = strings.TrimRight(rows[most-1], " …") + " …"
	return rows
}

// firstSentences are the rows of the sentences that fit, or the first rows where that would leave much room.
func firstSentences(text string, width, most int) []string {
	text = Line(text)
	var fitting []string
	for end := 0; end < len(text); {
		i := strings.Index(text[end:], ". ")
		if i < 0 {
			end = len(text)
		} else {
			end += i + 1
		}
		rows := wrap(text[:end], width)
		if len(rows) > most {
			break
		}
		fitting = rows
		if end == len(text) {
			return fitting
		}
	}
	if len(fitting) == 0 || len(fitting) < most-1 {
		return firstRows(text, width, most)
	}
	return fitting
}

// clip is a text on one row, with an ellipsis where it is longer.
func clip(text string, width int) string { return ansi.Truncate(Line(text), max(width, 1), "…") }
