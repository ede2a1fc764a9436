package pace_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// run makes the log of n steps, of which each says how long it took.
func run(n int, form func(step int, seconds float64) string, seconds func(step int) float64) string {
	var b strings.Builder
	for step := 1; step <= n; step++ {
		b.WriteString(form(step, seconds(step)) + "\n")
	}
	return b.String()
}

// nano is a step as loops of one's own print it.
func nano(step int, seconds float64) string {
	return fmt.Sprintf("iter %d: loss %.4f, time %.2fms, mfu 31.20%%", step, 2+8/float64(step), 1000*seconds)
}

// from makes steps slow from one on.
func from(slow int, factor float64) func(int) float64 {
	return func(step int) float64 {
		seconds := 0.3 + 0.01*float64(step%5)
		if step >= slow {
			seconds *= factor
		}
		return seconds
	}
}

var morning = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// logged is a line with a timestamp that many seconds after the first.
func logged(seconds float64, text string) string {
	return morning.Add(time.Duration(seconds*1e9)).Format("2006-01-02 15:04:05,000") + " - train - INFO - " + text + "\n"
}

// beating makes the log of a rank that makes a step each two seconds up to last, and shows that it lives until the end.
func beating(last int, end float64) string {
	var b strings.Builder
	for s := 0.0; s <= end; s++ {
		if step := int(s) / 2; int(s)%2 == 0 && step <= last {
			b.WriteString(logged(s, fmt.Sprintf("step %d loss %.4f", step, 2.5)))
		}
		if int(s)%15 == 0 {
			b.WriteString(logged(s, fmt.Sprintf("alive, %d MiB", 51000+int(s))))
		}
	}
	return b.String()
}

// ranks interleaves what ranks print, line by line.
func ranks(logs ...string) string {
	var b strings.Builder
	var lines [][]string
	for _, log := range logs {
		lines = append(lines, strings.SplitAfter(log, "\n"))
	}
	for i := 0; ; i++ {
		more := false
		for rank := range lines {
			if i < len(lines[rank]) && lines[rank][i] != "" {
				more = true
				fmt.Fprintf(&b, "[rank%d]: %s", rank, lines[rank][i])
			}
		}
		if !more {
			return b.String()
		}
	}
}

// shipped is an engine with the knowledge that is shipped.
func shipped(t *testing.T) *matcher.Engine {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	return matcher.New(base)
}

// rootOf is the first diagnosis of logs, or nil.
func rootOf(t *testing.T, engine *matcher.Engine, logs ...string) *report.Diagnosis {
	t.Helper()
	r := engine.Begin()
	for i, log := range logs {
		if err := r.Read(context.Background(), fmt.Sprintf("rank_%d.log", i), strings.NewReader(log)); err != nil {
			t.Fatal(err)
		}
	}
	report := r.Report()
	if len(report.Diagnoses) == 0 {
		return nil
	}
	return &report.Diagnoses[0]
}

// TestPaceForms: a job that becomes slow shows it in each of the forms in which libraries print steps.
func TestPaceForms(t *testing.T) {
	engine := shipped(t)
	forms := map[string]func(int, float64) string{
		"nanoGPT": nano,
		"Megatron-LM": func(step int, s float64) string {
			return fmt.Sprintf(" iteration %8d/  500000 | consumed samples: %12d | elapsed time per iteration (ms): %.1f | learning rate: 1.5E-04 | global batch size:   512 | lm loss: 2.1E+00 |", step, 512*step, 1000*s)
		},
		"DeepSpeed": func(step int, s float64) string {
			return fmt.Sprintf("[2024-09-11 17:52:18,030] [INFO] [timer.py:264:stop] epoch=0/micro_step=%d/global_step=%d, RunningAvgSamplesPerSec=60.1, CurrSamplesPerSec=%f, MemAllocated=31.4GB, MaxMemAllocated=66.02GB", 4*step, step, 64/s)
		},
		"tqdm": func(step int, s float64) string {
			if rate := 1 / s; rate > 1 {
				return fmt.Sprintf(" 10%%|█         | %d/5000 [01:00<10:00, %5.2fit/s]\r", step, rate)
			}
			return fmt.Sprintf(" 10%%|█         | %d/5000 [01:00<10:00, %5.2fs/it]\r", step, s)
		},
		"Lightning": func(step int, s float64) string {
			return fmt.Sprintf("Epoch 0:  10%%|█         | %d/5000 [01:00<10:00, %5.2fit/s, v_num=0, train_loss=2.310]", step, 1/s)
		},
		"torchtitan": func(step int, s float64) string {
			return fmt.Sprintf("[rank0]:[titan] 2025-01-01 12:00:00,123 - root - INFO - \x1b[31mstep: %2d  \x1b[32mloss:  7.1042  \x1b[33mgrad_norm:  1.2100  \x1b[34mmemory: 47.91GiB(34.30%%)  \x1b[35mtps: %d,%03d  \x1b[36mtflops: 312.40  \x1b[39mmfu: 31.60%%\x1b[0m", step, int(8192/s)/1000, int(8192/s)%1000)
		},
		"llm.c": func(step int, s float64) string {
			return fmt.Sprintf("step %5d/19560 | loss 7.110042 (+nanz)| norm 2.1 (+nanz)| lr 6.0e-05 | %.2f ms | 50.1%% bf16 MFU | 1500 tok/s", step, 1000*s)
		},
		"LitGPT": func(step int, s float64) string {
			return fmt.Sprintf("Epoch 1 | iter %d step %d | loss train: 2.104, val: n/a | iter time: %.2f ms (step)", step, step, 1000*s)
		},
		"MMEngine": func(step int, s float64) string {
			return fmt.Sprintf("2023/05/24 03:30:22 - mmengine - INFO - Epoch(train)  [1][%4d/5000]  lr: 2.0e-02  eta: 1:20:11  time: %.4f  data_time: 0.0102  memory: 3021  loss: 1.2", step, s)
		},
		"detectron2": func(step int, s float64) string {
			return fmt.Sprintf("[05/24 03:30:22 d2.utils.events]:  eta: 1:00:00  iter: %d  total_loss: 2.1  time: %.4f  last_time: 0.3  data_time: 0.0102  lr: 0.02  max_mem: 3021M", step, s)
		},
		"ImageNet": func(step int, s float64) string {
			return fmt.Sprintf("Epoch: [0][%4d/5005]\tTime %6.3f ( 0.310)\tData  0.010 ( 0.010)\tLoss 6.9e+00 (6.9e+00)", step, s)
		},
		"DeiT": func(step int, s float64) string {
			return fmt.Sprintf("Epoch: [0]  [%4d/5005]  eta: 0:50:01  lr: 0.000001  loss: 6.9 (6.9)  time: %.4f  data: 0.0003  max mem: 9000", step, s)
		},
		"NeMo": func(step int, s float64) string {
			return fmt.Sprintf("Training epoch 0, iteration %d/4999 | lr: 0.0003 | global_batch_size: 8 | global_step: %d | reduced_train_loss: 11.03 | train_step_timing in s: %.4f", step, step, s)
		},
		"a loop with samples per second": func(step int, s float64) string {
			return fmt.Sprintf("[%d/100] global_step=%d loss=2.31 samples/sec: %.2f", step, step, 64/s)
		},
	}
	for name, form := range forms {
		log := run(60, form, from(41, 4))
		d := rootOf(t, engine, log)
		if d == nil {
			t.Errorf("%s: nothing is said of\n%s", name, log[len(log)-300:])
			continue
		}
		if d.ID != "job-slower" || d.Certainty != report.Likely || d.Evidence[0].Line != 41 {
			t.Errorf("%s: %s %s in line %d: %s", name, d.ID, d.Certainty, d.Evidence[0].Line, d.Cause)
		}
		if d := rootOf(t, engine, run(60, form, from(41, 2))); d != nil {
			t.Errorf("%s: twice as slow, and %s is diagnosed", name, d.ID)
		}
	}
}

// TestPaceByTimestamps: lines that say nothing of their time have timestamps.
func TestPaceByTimestamps(t *testing.T) {
	engine := shipped(t)
	now := 0.0
	log := run(100, func(step int, s float64) string {
		now += s * 10
		return strings.TrimSuffix(logged(now, fmt.Sprintf("step %d loss 2.31", step)), "\n")
	}, from(71, 4))
	if d := rootOf(t, engine, log); d == nil || d.ID != "job-slower" || d.Evidence[0].Line != 71 {
		t.Errorf("%+v", d)
	}
}

// TestPaceIsSilent has jobs that are well, or whose logs prove nothing.
func TestPaceIsSilent(t *testing.T) {
	engine := shipped(t)
	slow := from(41, 4)
	megatron := func(step int, s float64) string {
		batch := 64
		if step > 40 {
			batch = 512
		}
		return fmt.Sprintf(" iteration %8d/  500000 | elapsed time per iteration (ms): %.1f | global batch size: %5d | lm loss: 2.1E+00 |", step, 1000*s*float64(batch)/64, batch)
	}
	alive := beating(100, 200)
	cases := map[string][]string{
		"warm-up":                     {run(60, nano, func(step int) float64 { return from(1, 1)(step) * float64(1+20/step) })},
		"slow at first":               {run(60, nano, func(step int) float64 { return from(16, 0.2)(step) })},
		"pauses":                      {run(100, nano, func(step int) float64 { return map[bool]float64{true: 20, false: 0.3}[step%25 == 0] })},
		"a pause at the end":          {run(64, nano, from(56, 6))},
		"over again":                  {run(80, nano, func(step int) float64 { return map[bool]float64{true: 2, false: 0.3}[step > 40 && step < 77] })},
		"bit by bit":                  {run(100, nano, func(step int) float64 { return 0.3 * (1 + float64(step)/12) })},
		"a total":                     {run(100, nano, func(step int) float64 { return 0.3 * float64(step) })},
		"accumulated":                 {run(100, nano, func(step int) float64 { return map[bool]float64{true: 1.2, false: 0.1}[step%4 == 0] })},
		"a larger batch":              {run(80, megatron, func(int) float64 { return 0.3 })},
		"done":                        {run(60, nano, slow) + "Training completed\n"},
		"done by its count":           {run(60, func(step int, s float64) string { return fmt.Sprintf("step %d/60 loss 2.1 time %.1f ms", step, 1000*s) }, slow)},
		"begun again":                 {run(40, nano, from(1, 1)) + "Resuming from checkpoint-30\n" + strings.Join(strings.SplitAfter(run(60, nano, from(1, 4)), "\n")[30:], "")},
		"few steps":                   {run(8, nano, from(5, 9))},
		"short wait":                  {beating(100, 440)},
		"a checkpoint":                {alive + logged(201, "Saving checkpoint to /ckpt/step_100") + logged(1900, "alive, 51000 MiB")},
		"an evaluation":               {alive + logged(201, "Evaluating on 50000 images") + logged(1900, "alive, 51000 MiB")},
		"went on with something":      {alive + logged(201, "merging 12 shards into one index") + logged(1900, "alive, 51000 MiB")},
		"done, then quiet":            {alive + logged(201, "Training completed") + beating(0, 3000)},
		"waited as long before":       {beating(50, 700) + strings.ReplaceAll(beating(60, 1000), "2026-03-01 09", "2026-03-01 10")},
		"two clocks":                  {strings.ReplaceAll(ranks(alive, beating(100, 200)), "[rank1]: 2026-03-01 09", "[rank1]: 2026-03-01 17")},
		"no clock":                    {run(100, nano, from(1, 1)) + strings.Repeat("alive, 51000 MiB\n", 500)},
		"cut off":                     {ranks(beating(60, 121), beating(60, 121), beating(59, 119))},
		"one rank prints":             {ranks(beating(300, 600), "ready\n", "ready\n", "ready\n")},
		"seldom on other ranks":       {ranks(run(95, nano, from(1, 1)), everyTenth(95), everyTenth(95), everyTenth(95))},
		"first steps on other ranks":  {ranks(run(90, nano, from(1, 1)), run(30, nano, from(1, 1)), run(30, nano, from(1, 1)))},
		"files copied at other times": {beating(100, 200), beating(90, 180), beating(80, 160)},
		"two ranks, one slower":       {run(60, nano, from(1, 1)), run(60, nano, from(1, 1)), run(60, nano, from(1, 2.5))},
		"stopped by hand":             {beating(450, 900) + interrupt},
		"an error":                    {run(60, nano, slow) + "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    main()\nRuntimeError: something else\n"},
	}
	for name, logs := range cases {
		if d := rootOf(t, engine, logs...); d != nil && d.ID != "python-exception" && d.Evidence[0].Text != "RuntimeError: something else" {
			t.Errorf("%s: %s (%s)", name, d.ID, d.Cause)
		}
	}
}

// everyTenth is what a rank prints that shows every tenth step.
func everyTenth(n int) string {
	var b strings.Builder
	for step := 10; step <= n; step += 10 {
		b.WriteString(strings.Repeat("\n", 9) + nano(step, 0.3) + "\n")
	}
	return b.String()
}

const (
	limit     = "slurmstepd: error: *** JOB 812 ON node7 CANCELLED AT 2026-03-01T09:15:01 DUE TO TIME LIMIT ***\n"
	interrupt = "^CTraceback (most recent call last):\n  File \"train.py\", line 88, in <module>\n    loss.backward()\nKeyboardInterrupt\n"
)

// megatron is a step with a timestamp, of the first hour.
func megatron(step int, _ float64) string {
	return fmt.Sprintf(" [2026-03-01 09:%02d:%02d] iteration %8d/  500000 | consumed samples: %12d | elapsed time per iteration (ms): 5021.0 | lm loss: 2.1E+00 |", step/12, step*5%60, step, step*512)
}

// TestStops: who stopped, where, and for how long.
func TestStops(t *testing.T) {
	engine := shipped(t)
	cases := []struct {
		name string
		logs []string
		id   string
		rank int
		line int
		says string
	}{
		{"alone", []string{beating(100, 900)}, "job-stands-still", 0, 115, "came for 12 minutes after step 100"},
		{"all", []string{beating(100, 900), beating(100, 900)}, "job-stands-still", logline.NoRank, 115, "after step 100"},
		{"one of files", []string{beating(100, 900), beating(101, 900), beating(101, 900)}, "rank-stopped", 0, 115, "The last step of rank 0 is 100, the other 2 reached 101"},
		{"one of a log", []string{ranks(beating(60, 800), beating(61, 800), beating(61, 800), beating(61, 800))}, "rank-stopped", 0, 0, "The last step of rank 0 is 60, the other 3 reached 61"},
		{"two of four without a clock", []string{ranks(run(62, nano, from(1, 1)), run(59, nano, from(1, 1)), run(62, nano, from(1, 1)), run(62, nano, from(1, 1)))}, "rank-stopped", 1, 0, "The last step of rank 1 is 59"},
		{"to the time limit", []string{beating(100, 900) + limit}, "job-stands-still", 0, 115, "after step 100"},
		{"till Ctrl-C", []string{beating(100, 900) + interrupt}, "job-stands-still", 0, 115, "after step 100"},
		{"nothing printed till the time limit", []string{run(60, megatron, from(1, 1)) + strings.Replace(limit, "T09", "T10", 1)}, "job-stands-still", 0, 60, "after step 60"},
		{"on to the time limit", []string{beating(450, 900) + limit}, "slurm-time-limit", 0, 0, ""},
	}
	for _, c := range cases {
		d := rootOf(t, engine, c.logs...)
		if d == nil || d.ID != c.id || d.Certainty != report.Likely && c.id != "slurm-time-limit" || !strings.Contains(d.Cause, c.says) || c.line > 0 && d.Evidence[0].Line != c.line {
			t.Errorf("%s: %+v", c.name, d)
			continue
		}
		if c.id == "rank-stopped" && (d.Rank == nil || *d.Rank != c.rank) {
			t.Errorf("%s: rank %v", c.name, d.Rank)
		}
	}
}

// TestPaceOfLongLogs: what a long log says is found in its sample.
func TestPaceOfLongLogs(t *testing.T) {
	engine := shipped(t)
	before := strings.Repeat("1731 tokens of shard 4\n", 3000)
	for _, c := range []struct{ steps, slow int }{{2100, 2050}, {30_000, 20_011}, {50_000, 49_900}} {
		d := rootOf(t, engine, before+run(c.steps, nano, from(c.slow, 5)))
		if d == nil || d.ID != "job-slower" || d.Evidence[0].Line-3000 < c.slow || d.Evidence[0].Line-3000 > c.slow+c.steps/20 {
			t.Errorf("%+v: %+v", c, d)
		}
	}
}
