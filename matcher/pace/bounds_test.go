package pace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
)

// Each bound that decides an answer has a case on each side of it.

// costs are paces of steps that follow each other, one to a line.
func costs(parts ...[]float64) []onePace {
	var paces []onePace
	for i, cost := range slices.Concat(parts...) {
		paces = append(paces, onePace{mark{step: step{number: float64(i + 1), seconds: cost}, line: logline.Line{Number: i + 1}}, cost})
	}
	return paces
}

func TestSlowerBounds(t *testing.T) {
	times := func(n int, cost float64) []float64 { return slices.Repeat([]float64{cost}, n) }
	// among has n costs, of which so many are another one. It begins and ends with the usual one.
	among := func(n, others int, cost, other float64) []float64 {
		all := times(n, cost)
		for i := range others {
			all[5+i] = other
		}
		return all
	}
	slowSteps := func(width float64) []onePace { // ten slow lines whose steps are so far apart
		paces := costs(times(20, 1), times(10, 4))
		for i := range 10 {
			paces[20+i].mark.number = 20 + width*float64(i+1)
		}
		return paces
	}
	for name, c := range map[string]struct {
		paces []onePace
		want  bool
	}{
		"three times as long":              {costs(times(30, 1), times(30, 3)), true},
		"less than three times":            {costs(times(30, 1), times(30, 2.999)), false},
		"half as long again before":        {costs(times(30, 1), times(10, 1.5), times(20, 5)), true},
		"more than that before":            {costs(times(30, 1), times(10, 1.501), times(20, 5)), false},
		"ten before and ten after":         {costs(times(10, 1), times(10, 4)), true},
		"nine before":                      {costs(times(9, 1), times(30, 4)), false},
		"nine after":                       {costs(times(30, 1), times(9, 4)), false},
		"nine steps from first to last":    {slowSteps(1), true},
		"fewer steps from first to last":   {slowSteps(0.999), false},
		"one in ten fast after":            {costs(times(40, 1), among(54, 5, 4, 1)), true},
		"more than one in ten fast after":  {costs(times(40, 1), among(63, 6, 4, 1)), false},
		"one in ten slow before":           {costs(among(50, 5, 1, 4), times(40, 4)), true},
		"more than one in ten slow before": {costs(among(59, 6, 1, 4), times(40, 4)), false},
	} {
		got := slower(c.paces)
		began := got != nil && (got.since.number == 41 || !strings.Contains(name, "fast after"))
		if began != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestUsualBound: what a quarter of the lines does not exceed is usual, where most of a log was slow.
func TestUsualBound(t *testing.T) {
	for fast, want := range map[int]float64{25: 4, 26: 1} {
		paces := costs(slices.Repeat([]float64{1}, fast), slices.Repeat([]float64{4}, 100-fast))
		if got := usualCost(paces); got != want {
			t.Errorf("%d fast of 100: %g is usual, not %g", fast, got, want)
		}
	}
}

func TestRecentBound(t *testing.T) {
	for n, want := range map[int]float64{9: 0, 10: 2} {
		one := &series{}
		for i := range n {
			one.marks = append(one.marks, mark{step: step{number: float64(i), seconds: 2}})
		}
		one.close(&Pace{}, 1)
		if one.recent != want {
			t.Errorf("%d paces: %g s, not %g s", n, one.recent, want)
		}
	}
}

// TestTimestampBound: timestamps of whole seconds tell how long steps take from two seconds on.
func TestTimestampBound(t *testing.T) {
	for elapsed, want := range map[time.Duration]int{2 * time.Second: 1, 2*time.Second - time.Millisecond: 0} {
		one := &series{marks: []mark{{at: noon, step: step{number: 1}}, {at: noon.Add(elapsed), step: step{number: 2}}}}
		if got := one.paces(true); len(got) != want {
			t.Errorf("%s: %d paces", elapsed, len(got))
		}
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestWaitBounds(t *testing.T) {
	for name, c := range map[string]struct {
		wait, longest time.Duration
		gaps          int
		want          bool
	}{
		"five minutes":           {5 * time.Minute, time.Minute, 10, true},
		"less":                   {5*time.Minute - time.Second, time.Minute, 10, false},
		"four times the longest": {8 * time.Minute, 2 * time.Minute, 10, true},
		"less than four times":   {8*time.Minute - time.Second, 2 * time.Minute, 10, false},
		"few waits before":       {8 * time.Minute, 2 * time.Minute, 9, false},
	} {
		p := &Pace{clock: true, quiet: true, gaps: c.gaps, longest: c.longest, stepped: &mark{at: noon}, ended: &mark{at: noon.Add(c.wait)}}
		if wait, _, _ := waited([]*Pace{p}); (wait == c.wait) != c.want || !c.want && wait != 0 {
			t.Errorf("%s: waited for %s", name, wait)
		}
	}
}

// process is one that makes a step with each line, is apart from others by so many steps, and is at a step.
func process(name string, at, apart float64, turns int) pacer {
	return pacer{name, &series{turn: 1, apart: apart, turns: turns, last: &mark{step: step{number: at}}}}
}

func TestLeftBehindBounds(t *testing.T) {
	for name, c := range map[string]struct {
		at, apart    float64
		turns        int
		waited, want bool
	}{
		"a step behind, and a wait":       {99, 0, 50, true, true},
		"less than a step":                {99.5, 0, 50, true, false},
		"two steps, without a clock":      {98, 1, 20, false, true},
		"one step, without a clock":       {99, 0, 20, false, false},
		"few turns, without a clock":      {98, 1, 19, false, false},
		"no farther than ever":            {97, 3, 20, false, false},
		"farther than ever":               {96, 3, 20, false, true},
		"as far as others get":            {93, 2, 20, true, true},
		"farther: it only prints no more": {92, 2, 20, true, false},
	} {
		behind := left([]pacer{process("a", 100, c.apart, 50), process("b", c.at, c.apart, c.turns)}, 100, c.waited, true)
		if (len(behind) == 1) != c.want {
			t.Errorf("%s: %d are behind", name, len(behind))
		}
	}
}

// TestMostStopped: when more than half of the processes are behind, nobody is held up by them.
func TestMostStopped(t *testing.T) {
	for stopped, want := range map[int]int{2: 2, 3: 0} {
		var all []pacer
		for i := range 4 {
			at := 100.0
			if i < stopped {
				at = 95
			}
			all = append(all, process(fmt.Sprint("rank ", i), at, 0, 50))
		}
		found := Finding{}
		if f := stoppedOf(all); f != nil {
			found = *f
		}
		if len(found.names) != want {
			t.Errorf("%d of 4: %+v", stopped, found)
		}
	}
}

func stoppedOf(all []pacer) *Finding { return stopped([]*Pace{{}}, all) }

func TestSlowRanksBound(t *testing.T) {
	for slow, want := range map[int]int{8: 8, 9: 0} {
		var all []pacer
		for i := range 10 {
			one := process(fmt.Sprint("rank ", i), 100, 0, 50)
			one.recent = 1
			if i < slow {
				one.slow = &slowdown{usual: 1, now: 4}
			}
			all = append(all, one)
		}
		if found := slowed(all); found == nil || len(found.names) != want {
			t.Errorf("%d of 10: %+v", slow, found)
		}
	}
}

// TestFirstSlowBound: of two slow processes the one that shows it first says nothing, of three it does.
func TestFirstSlowBound(t *testing.T) {
	for n, want := range map[int]string{2: "", 3: "rank 0"} {
		var all []pacer
		for i := range n {
			one := process(fmt.Sprint("rank ", i), 100, 0, 50)
			one.recent, one.slow = 4, &slowdown{usual: 1, now: 4, since: mark{step: step{number: float64(50 + i)}}}
			all = append(all, one)
		}
		if found := slowed(all); found == nil || found.first != want {
			t.Errorf("%d: %+v", n, found)
		}
	}
}

func TestSlowestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		recent []float64
		want   int
	}{
		"one of three":               {[]float64{1, 1, 3}, 1},
		"one of two":                 {[]float64{1, 3}, 0},
		"less than three times":      {[]float64{1, 1, 2.999}, 0},
		"a quarter":                  {[]float64{1, 1, 1, 1, 1, 1, 3, 3}, 2},
		"more than a quarter":        {[]float64{1, 1, 1, 1, 1, 1, 3, 3, 3}, 0},
		"others half as long again":  {[]float64{1, 1, 1, 1.5, 4}, 1},
		"others more than that":      {[]float64{1, 1, 1, 1.501, 4}, 0},
		"fewer than a quarter, of 8": {[]float64{1, 1, 1, 1, 1, 1, 1, 3}, 1},
	} {
		var all []pacer
		for i, seconds := range c.recent {
			one := process(fmt.Sprint("rank ", i), 100, 0, 50)
			one.recent = seconds
			all = append(all, one)
		}
		got := 0
		if found := slowest(all); found != nil {
			got = len(found.names)
		}
		if got != c.want {
			t.Errorf("%s: %d are slow, not %d", name, got, c.want)
		}
	}
}

// TestCountBound: a count that a process ended is its own no more, but for one that the same rows show beside another.
func TestCountBound(t *testing.T) {
	for apart, want := range map[int]bool{31: true, 32: false} {
		marks := []mark{
			{step: step{by: "outer", number: 1}, line: logline.Line{Number: 1}},
			{step: step{by: "inner", number: 5}, line: logline.Line{Number: 1 + apart}},
		}
		p := &Pace{stepped: &marks[1]}
		p.group(marks)
		if got := p.series[0].current; got != want {
			t.Errorf("%d lines apart: current is %v", apart, got)
		}
	}
}

func TestSampleBounds(t *testing.T) {
	for line, want := range map[int]bool{1: true, 2048: true, 2049: true, 2080: true, 2081: false, 2112: false, 2113: true} {
		if Sampled(line) != want {
			t.Errorf("line %d: sampled is %v", line, !want)
		}
	}
	if got := []int{rowStride(2048), rowStride(2049), rowStride(4096), rowStride(4097)}; !slices.Equal(got, []int{1, 2, 2, 4}) {
		t.Errorf("the strides are %v", got)
	}
	if got := []int{NextSampled(2080), NextSampled(2081)}; !slices.Equal(got, []int{2080, 2113}) {
		t.Errorf("the next lines are %v", got)
	}
	for n, want := range map[int]int{32<<10 - 1: 32<<10 - 1, 32 << 10: 16 << 10} {
		s := &Sample{stride: 1}
		for range n { // parts of one line
			s.Take(logline.Line{Number: 1})
		}
		if len(s.marks) != want {
			t.Errorf("of %d marks %d are kept, not %d", n, len(s.marks), want)
		}
	}
	for n, want := range map[int]bool{600: true, 601: false} {
		s, text := &Sample{stride: 1}, strings.Repeat("x", n)
		s.Take(logline.Line{Number: 1, Text: text})
		if (s.marks[0].line.Text == text) != want {
			t.Errorf("%d bytes are kept as %d", n, len(s.marks[0].line.Text))
		}
	}
}

// TestLastBytesBound: the last 128 KiB are read again, from the first line that begins in them.
func TestLastBytesBound(t *testing.T) {
	const line = 64
	data := []byte(strings.Repeat(strings.Repeat("x", line-1)+"\n", 4096))
	for more, want := range map[int]int{0: 4096 - 128<<10/line + 2, 1: 4096 - 128<<10/line + 2} {
		s := &Sample{stride: 1}
		s.TakeLast(logline.Sniff("x", nil), append(data, strings.Repeat("y", more)...), int64(len(data)+more), 4096+more)
		if s.closed != want {
			t.Errorf("%d bytes more: line %d is the first that is read again, not %d", more, s.closed, want)
		}
	}
}

func TestClockBounds(t *testing.T) {
	for back, want := range map[time.Duration]bool{time.Minute: true, time.Minute + time.Second: false} {
		s := &Sample{marks: []mark{{line: logline.Line{Time: noon}}, {line: logline.Line{Time: noon.Add(-back)}}}}
		if s.clock() != want {
			t.Errorf("back by %s: one clock is %v", back, !want)
		}
	}
	for before, want := range map[int]bool{81: true, 82: false} { // the stamp has 19 bytes
		if got := timeIn(strings.Repeat(" ", before)+"2026-03-01 12:00:00", time.Time{}); got.IsZero() == want {
			t.Errorf("after %d bytes: %v", before, got)
		}
	}
}

func TestNamedBound(t *testing.T) {
	for n, want := range map[int]string{8: "8", 9: "8 and 1 more"} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint(i+1))
		}
		if got := named(names); !strings.HasSuffix(got, ", "+want) {
			t.Errorf("%d names: %s", n, got)
		}
	}
}

func TestSpoken(t *testing.T) {
	for d, want := range map[time.Duration]string{119 * time.Minute: "119 minutes", 120 * time.Minute: "2.0 hours"} {
		if got := spoken(d); got != want {
			t.Errorf("%s is %s, not %s", d, got, want)
		}
	}
}

// TestNumberBounds: what is no number of steps is none.
func TestNumberBounds(t *testing.T) {
	for text, want := range map[string]float64{"1,000,000,000,000,000": 1e15, "1000000000000001": 0, "0": 0, "-1": 0, "nan": 0, "0.5": 0.5} {
		var s step
		s.take(map[string]string{"step": text})
		if s.number != want {
			t.Errorf("%s is %g, not %g", text, s.number, want)
		}
	}
}

// TestValue: what a finding says to conditions, in members that there are.
func TestValue(t *testing.T) {
	scope := condition.NewScope()
	for name, shape := range signature.FindingShapes() {
		if err := scope.Declare(name, shape); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		finding Finding
		holds   []string
		says    string
	}{
		{Finding{Kind: Stopped, step: 100, wait: 12 * time.Minute}, []string{`pace.kind == "stopped"`, `pace.processes == nil`, `pace.wait == 720`, `pace.factor == nil`}, "100, 12 minutes"},
		{Finding{Kind: Stopped, names: []string{"rank 3"}, step: 60, others: 7, reached: 61}, []string{`pace.others == 7`, `pace.reached > pace.step`, `pace.wait == nil`}, "60, none"},
		{Finding{Kind: Slower, step: 41, factor: 4, seconds: 1.2, usual: 0.3, data: 0.495, first: "rank 5"},
			[]string{`pace.factor >= 4`, `pace.data_percent == 50`, `pace.first == "rank 5"`, `pace.seconds > pace.usual_seconds`, `pace.change == ": 1.2 s instead of 0.3 s"`,
				`pace.than == "since step 41: 1.2 s instead of 0.3 s; 50 % of it waits for data"`}, "41, none"},
		{Finding{Kind: SlowerThanOthers, names: []string{"rank 3"}, factor: 3.04, others: 3}, []string{`pace.than == "as those of the 3 others"`, `pace.step == nil`}, "none, none"},
	} {
		s := scope.NewSituation()
		signature.SetFinding(s, signature.PaceFinding, c.finding.Value())
		for _, source := range c.holds {
			d := &rulefile.Decoder{File: "pace.yaml"}
			e := scope.ReadCondition(d, rulefile.Text{Value: source, Line: 1, Column: 1})
			if e == nil {
				t.Fatal(d.Problems)
			}
			if !e.Eval(s).True() {
				t.Errorf("%s is %s", source, e.Eval(s))
			}
		}
		if got := condition.ParseTemplate("{pace.step|none}, {pace.wait|none}").Fill(s); got != c.says {
			t.Errorf("says %q, not %q", got, c.says)
		}
	}
	four := Finding{Kind: Slower, step: 41, factor: 4}
	s := scope.NewSituation()
	signature.SetFinding(s, signature.PaceFinding, four.Value())
	if got := condition.ParseTemplate("{pace.factor}").Fill(s); got != "4.0" {
		t.Errorf("a factor of four is said to be %s", got)
	}
}
