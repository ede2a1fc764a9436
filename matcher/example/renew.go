package example

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/signature"
)

// Renew is the example with the verdict that the engine gives now. It stays as it is where a person ruled out what is diagnosed, where
// nothing may be diagnosed, and where less is diagnosed than should be: these are mistakes of the engine or of a signature.
func Renew(ctx context.Context, engine *matcher.Engine, example Example) (Example, error) {
	answer, err := diagnose(ctx, engine, example)
	if err != nil {
		return example, err
	}
	found := answer.Diagnoses
	ruledOut := func(d report.Diagnosis) bool { return slices.Contains(example.Not, d.ID) }
	if len(found) < len(example.Want) || slices.ContainsFunc(found, ruledOut) {
		return example, nil
	}
	renewed := example
	renewed.Want = slices.Clone(example.Want)
	for i := range renewed.Want {
		if slices.Contains(found[i].Read, renewed.Want[i].ID) { // what was read in the message is as wanted
			found[i].ID = renewed.Want[i].ID
		}
		now := Want{ID: found[i].ID, Certainty: found[i].Certainty, Line: found[i].Evidence[0].Line}
		if renewed.Want[i].Line == 0 {
			now.Line = 0
		}
		renewed.Want[i] = now
	}
	if len(found) > 0 && example.Rank != logline.NoRank && found[0].Rank != nil {
		renewed.Rank = *found[0].Rank
	}
	return renewed, nil
}

// Same says whether two versions of an example have the same verdict.
func (e Example) Same(other Example) bool {
	return slices.Equal(e.Want, other.Want) && e.Rank == other.Rank
}

// Verdict is what the example must get, in the words of a mark.
func (e Example) Verdict() string {
	var words []string
	for _, w := range e.Want {
		text := fmt.Sprintf("%s %s", w.ID, w.Certainty)
		if w.Line > 0 {
			text += fmt.Sprintf(" in line %d", w.Line)
		}
		words = append(words, text)
	}
	if e.Rank != logline.NoRank {
		words = append(words, fmt.Sprintf("rank %d", e.Rank))
	}
	return strings.Join(words, ", ")
}

// File is the file that has the verdict.
func (e Example) File() string {
	if e.folder {
		return path.Join(e.Place.File, verdictFile)
	}
	return e.Place.File
}

// Rewrite is the content of the example's file with the verdict of another version of it. All other bytes stay.
func (e Example) Rewrite(content string, renewed Example) (string, error) {
	if e.written == nil {
		return e.remark(content, renewed), nil
	}
	if len(renewed.Want) != 1 {
		return "", fmt.Errorf("%v: only an answer can be renewed, not none", e)
	}
	var rank *int
	if renewed.Rank != logline.NoRank {
		rank = &renewed.Rank
	}
	want := renewed.Want[0]
	return e.written.WithAnswer(content, signature.Answer{ID: want.ID, Certainty: string(want.Certainty)}, want.Line, rank)
}

// remark writes the marks of a log anew: in their places where the line of the evidence is the same, else before the new one.
func (e Example) remark(content string, renewed Example) string {
	var out bytes.Buffer
	mark := func(key, value string) { fmt.Fprintf(&out, "#=%s= %s\n", key, value) }
	match := func(w Want) { mark("match", w.ID+" "+string(w.Certainty)) }
	read, line := 0, 0 // marks, and lines of the log
	for text := range strings.Lines(content) {
		switch {
		case strings.HasPrefix(text, "#=match="):
			if e.Want[read].Line == renewed.Want[read].Line {
				match(renewed.Want[read])
			}
			read++
			continue
		case strings.HasPrefix(text, "#=rank=") && renewed.Rank != e.Rank:
			mark("rank", fmt.Sprint(renewed.Rank))
			continue
		case !strings.HasPrefix(text, "#="):
			line++
			for i, w := range renewed.Want {
				if w.Line == line && w.Line != e.Want[i].Line {
					match(w)
				}
			}
		}
		out.WriteString(text)
	}
	return out.String()
}
