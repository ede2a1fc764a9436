package pace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/rules"
)

// moment is when something happens to a job that is watched, in seconds, and what it prints then.
type moment struct {
	at    float64
	print string
}

// watched is a job after the moments, of which the last is now.
func watched(t *testing.T, moments ...moment) (*pace.Watch, time.Time) {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	w := matcher.New(base).Watch()
	output := w.Output("output")
	begin := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	now := begin
	for _, m := range moments {
		now = begin.Add(time.Duration(m.at * float64(time.Second)))
		output.Write([]byte(m.print))
		w.Look(now)
	}
	return w, now
}

// steps are those of two ranks, one each so many seconds.
func steps(n int, seconds float64) []moment {
	var all []moment
	for i := 1; i <= n; i++ {
		all = append(all, moment{float64(i) * seconds, fmt.Sprintf("[rank0]: step %d/1000 loss 2.5\n[rank1]: step %d/1000 loss 2.5\n", i, i)})
	}
	return all
}

func after(all []moment, more ...moment) []moment {
	last := all[len(all)-1].at
	for _, m := range more {
		all = append(all, moment{last + m.at, m.print})
	}
	return all
}

// TestStill: each bound of a standstill has a case on each side of it.
func TestStill(t *testing.T) {
	beats := func(seconds int) (all []moment) {
		for s := 30; s <= seconds; s += 30 {
			all = append(all, moment{float64(s), fmt.Sprintf("alive, %d MiB\n", 51000+s)})
		}
		return all
	}
	for name, c := range map[string]struct {
		moments []moment
		limit   time.Duration
		want    bool
	}{
		"five minutes":                         {after(steps(10, 1), moment{300, ""}), 0, true},
		"less":                                 {after(steps(10, 1), moment{299, ""}), 0, false},
		"twenty times a long step":             {after(steps(10, 60), moment{1200, ""}), 0, true},
		"fewer":                                {after(steps(10, 60), moment{1199, ""}), 0, false},
		"twice the longest wait":               {after(steps(10, 1), moment{400, "step 11/1000 loss 2\n"}, moment{1200, ""}), 0, true},
		"less than that":                       {after(steps(10, 1), moment{400, "step 11/1000 loss 2\n"}, moment{1199, ""}), 0, false},
		"lines that came before go on":         {after(steps(10, 1), append([]moment{{1, "alive, 51000 MiB\n"}}, beats(360)...)...), 0, true},
		"new lines come":                       {after(steps(10, 1), moment{200, "Evaluating the model\n"}, moment{400, ""}), 0, false},
		"the same step again":                  {after(steps(10, 1), moment{200, "[rank0]: step 10/1000 loss 2.5\n"}, moment{300, ""}), 0, true},
		"too few steps":                        {after(steps(2, 1), moment{10000, ""}), 0, false},
		"no steps":                             {[]moment{{1, "loading\n"}, {10000, ""}}, 0, false},
		"no steps and a limit of one's own":    {[]moment{{1, "loading\n"}, {11, ""}}, 10 * time.Second, true},
		"less than a limit of one's own":       {after(steps(10, 1), moment{500, ""}), 501 * time.Second, false},
		"an evaluation began":                  {after(steps(10, 1), moment{1, "Running validation on 100 files\n"}, moment{1800, ""}), 0, false},
		"an evaluation began half an hour ago": {after(steps(10, 1), moment{1, "Running validation on 100 files\n"}, moment{1801, ""}), 0, true},
		"the work is done":                     {after(steps(10, 1), moment{1, "Training complete\n"}, moment{10000, ""}), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, now := watched(t, c.moments...)
			if got := w.Still(now, c.limit); (got.Wait > 0) != c.want {
				t.Errorf("it stands still: %+v", got)
			}
		})
	}
}

// TestStood: what a job prints when somebody ends it does not hide that it stood still, and somebody who ends it knows why.
func TestStood(t *testing.T) {
	const end = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\nKeyboardInterrupt\n"
	for name, c := range map[string]struct {
		moments []moment
		asked   bool
		want    bool
	}{
		"Ctrl-C after twenty steps' time":   {after(steps(10, 1), moment{20, end}), true, true},
		"Ctrl-C before":                     {after(steps(10, 1), moment{19, end}), true, false},
		"Ctrl-C after fast steps":           {after(steps(20, 0.25), moment{6, end}), true, true},
		"Ctrl-C soon after fast steps":      {after(steps(20, 0.25), moment{5.5, end}), true, false},
		"it ended itself":                   {after(steps(10, 1), moment{20, end}), false, false},
		"it ended itself after long":        {after(steps(10, 1), moment{300, end}), false, true},
		"it went on after it stood":         {after(steps(10, 1), moment{100, "[rank0]: step 11/1000 loss 2.5\n"}, moment{1, end}), true, false},
		"nothing was printed at the end":    {after(steps(10, 1), moment{20, ""}), true, true},
		"Ctrl-C while a checkpoint is made": {after(steps(10, 1), moment{1, "Saving checkpoint to /ckpt/10\n"}, moment{60, end}), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, now := watched(t, c.moments...)
			got := w.Stood(now, 0, c.asked)
			if (got.Wait > 0) != c.want {
				t.Fatalf("it stood still: %+v", got)
			}
			if c.want && strings.HasPrefix(name, "Ctrl-C") && (len(got.Lasts) != 2 || got.Lasts[0].Rank != 0 || !strings.HasPrefix(got.Lasts[1].Text, "step ")) {
				t.Errorf("last lines: %+v", got.Lasts)
			}
		})
	}
}

// TestWatchOfMuch: of an output that comes faster than anybody looks, the end is seen, and lines keep their numbers. A progress bar has no
// other end than \r.
func TestWatchOfMuch(t *testing.T) {
	w, now := watched(t, moment{1, strings.Repeat("a line of some length that says nothing\n", 50000) + "[rank7]: the last\n"}, moment{2, " 10%|█   | 10/100 [00:10<01:30, 1.00it/s]\r 11%|█   | 11/100 [00:11<01:30, 1.00it/s]\rcut"})
	lasts := w.Still(now, 0).Lasts
	ranks := map[int]logline.Line{}
	for _, line := range lasts {
		ranks[line.Rank] = line
	}
	if got := ranks[7]; got.Number != 50001 {
		t.Errorf("%+v", lasts)
	}
	if got := ranks[logline.NoRank]; got.Number != 50002 || !strings.Contains(got.Text, "11/100") {
		t.Errorf("%+v", lasts)
	}
}
