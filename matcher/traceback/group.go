package traceback

import (
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
)

// group is an exception group that is being read. Its lines have a margin: spaces, a bar, and what a traceback would have; the
// members are set in two spaces deeper, between rulers.
type group struct {
	header logline.Line
	levels []*groupLevel
	lines  int
	closed bool // the line before was the ruler below the last member of a group: the outermost may have none of its own
}

// groupLevel is what is set in alike.
type groupLevel struct {
	margin int // in spaces
	asm    *Assembler
	found  []*Exception
}

// The limits of an exception group.
const (
	maxGroupDepth   = 12
	maxGroupMembers = 256    // per group; more are dropped
	maxGroupLines   = 20_000 // in all
)

// newGroup begins a group with its header, which has so many spaces in front of its bar.
func newGroup(header logline.Line, margin int) *group {
	g := &group{header: header}
	g.push(margin)
	header.Text, header.Head = logline.TracebackHeader+":", 0
	g.levels[0].asm.Feed(header)
	return g
}

// push begins a level: the members of a group, or the outermost group itself.
func (g *group) push(margin int) {
	level := &groupLevel{margin: margin}
	level.asm = newCollector(func(e *Exception) {
		if len(level.found) < maxGroupMembers {
			level.found = append(level.found, e)
		}
	})
	g.levels = append(g.levels, level)
}

// pop ends the deepest level: what it found are members of the exception above it.
func (g *group) pop() {
	level := g.levels[len(g.levels)-1]
	g.levels = g.levels[:len(g.levels)-1]
	level.asm.Close()
	above := g.levels[len(g.levels)-1]
	if n := len(above.found); n > 0 {
		above.found[n-1].addMembers(level.found)
	}
}

// addMembers makes other exceptions members of this one: the first continues its chain, as the most likely cause.
func (e *Exception) addMembers(members []*Exception) {
	if len(members) > 0 && e.Earlier == nil {
		e.Earlier, e.Link = members[0], Relayed
		members = members[1:]
	}
	room := max(0, maxGroupMembers-len(e.Within))
	e.Within = append(e.Within, members[:min(len(members), room)]...)
}

// take takes the next line of the process.
func (g *group) take(l logline.Line) lineAction {
	g.lines++
	if g.lines > maxGroupLines {
		return ended
	}
	body := strings.TrimLeft(l.Text, " ")
	margin := len(l.Text) - len(body)
	if body == "" || body[0] != '|' && body[0] != '+' {
		return g.flush(l)
	}
	g.closed = false
	for len(g.levels) > 1 && g.levels[len(g.levels)-1].margin > margin {
		g.pop()
	}
	top := g.levels[len(g.levels)-1]
	switch {
	case strings.HasPrefix(body, "+-+-"):
		top.asm.Close()
		if len(g.levels) < maxGroupDepth {
			g.push(margin + 2)
		}
	case body[0] == '+':
		top.asm.Close()
		if strings.Trim(body, "+-") == "" && len(g.levels) > 1 {
			g.pop()
			g.closed = true
		}
	default:
		l.Text, l.Head = strings.TrimPrefix(strings.TrimPrefix(body, "|"), " "), 0
		top.asm.Feed(l)
	}
	return taken
}

// flush takes a line without a margin: Python sets only the first line of a message in.
func (g *group) flush(l logline.Line) lineAction {
	if g.closed {
		return ended
	}
	if l.Head > 0 || len(g.levels) == 1 {
		return foreign
	}
	g.levels[len(g.levels)-1].asm.Feed(l)
	return taken
}

// finish gives the group, nil when it turned out to be none.
func (g *group) finish() *Exception {
	for len(g.levels) > 1 {
		g.pop()
	}
	top := g.levels[0]
	top.asm.Close()
	if len(top.found) == 0 {
		return nil
	}
	e := top.found[len(top.found)-1]
	e.Header = g.header
	return e
}
