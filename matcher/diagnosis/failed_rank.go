package diagnosis

import (
	"slices"
	"strconv"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/rules/pattern"
	"github.com/gpu-triage/triage/rules/signature"
)

// namedRank is the rank that the words of a failure name, where they name another one than that which printed them; else the one that is given.
// A launcher that names none but the number of a process on its node means the rank where all processes are on that node.
func namedRank(m match, printed int) (rank int, named bool) {
	said := func(group string) (int, bool) {
		n, err := strconv.Atoi(m.captured(group))
		return n, err == nil
	}
	if n, ok := said(signature.FailedRank); ok {
		return n, true
	}
	n, ok := said(signature.LocalRank)
	processes, _ := m.situation.Value("world_size").Number()
	onNode, _ := m.situation.Value("gpu_count").Number()
	if ok && printed == logline.NoRank && !(onNode > 0 && processes > onNode) {
		return n, true
	}
	return printed, false
}

// rankOf is the rank that the root is about. What has no prefix is the first failed rank's, or that of the rank which alone shows how it ends,
// as far as anyone can tell.
func (c conclusion) rankOf(at reading.Occurrence) int {
	if at.Line.Rank != logline.NoRank {
		return at.Line.Rank
	}
	if c.first != logline.NoRank {
		return c.first
	}
	var ranks []int
	for _, f := range c.findings {
		if f != c.root && len(f.matches) > 0 && isOneOf(f, c.root.matches[0].signature.Explains) {
			ranks = append(ranks, f.Ranks()...)
		}
	}
	slices.Sort(ranks)
	if ranks = slices.Compact(ranks); len(ranks) == 1 {
		return ranks[0]
	}
	return logline.NoRank
}

// captured is what the patterns of the signature found for a group, "" when nothing.
func (m match) captured(group string) string {
	if !slices.ContainsFunc(m.signature.Capture, func(p *pattern.Pattern) bool { return slices.Contains(p.Names(), group) }) {
		return ""
	}
	return m.situation.Value(group).String()
}
