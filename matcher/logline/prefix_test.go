package logline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// one cleans a single line of a source with no form of its own.
func one(t *testing.T, raw string) Line {
	t.Helper()
	var got []Line
	if _, err := Sniff("train.log", nil).Clean(1, []byte(raw), func(l Line) error { got = append(got, l); return nil }); err != nil || len(got) != 1 {
		t.Fatalf("%q: %d lines, %v", raw, len(got), err)
	}
	return got[0]
}

func TestPrefixes(t *testing.T) {
	for raw, want := range map[string]struct {
		rank         int
		writer, text string
	}{
		"[rank3]: Traceback (most recent call last):":                 {3, "rank3", "Traceback (most recent call last):"},
		"[rank3]:   File \"x\"":                                       {3, "rank3", "  File \"x\""},
		"[rank12]:[E626 06:24:44.9 P.cpp:616] [Rank 12] x":            {12, "rank12", "[E626 06:24:44.9 P.cpp:616] [Rank 12] x"},
		"[default3]:[rank11]: x":                                      {11, "rank11", "x"},
		"[default3]:x":                                                {3, "default3", "x"},
		"0000-steps/0 [default6]:[rank6]: ptxas fatal":                {6, "rank6", "ptxas fatal"},
		"[80746] [rank0]:[E321 02:07:08.4 P.cpp:607] [Rank 0]":        {0, "rank0", "[E321 02:07:08.4 P.cpp:607] [Rank 0]"},
		"[80746] text":                                                {NoRank, "", "[80746] text"},
		"[trainer3]:host:1958:1958 [3] NCCL INFO x":                   {3, "trainer3", "host:1958:1958 [3] NCCL INFO x"},
		"[trainer0|0]:Last error:":                                    {0, "trainer0", "Last error:"},
		"[2]:text":                                                    {2, "[2]", "text"},
		"[2]:":                                                        {NoRank, "", "[2]:"},
		"[1,15]<stdout>:text":                                         {15, "rank15", "text"},
		"[pod/job-worker-3/pytorch] text":                             {NoRank, "pod/job-worker-3/pytorch", "text"},
		"(WorkerDict pid=7207, ip=10.0.0.1) text":                     {NoRank, "WorkerDict pid=7207, ip=10.0.0.1", "text"},
		"(TaskRunner pid=12)   File \"x\"":                            {NoRank, "TaskRunner pid=12", "  File \"x\""},
		"(VllmWorker rank=4 pid=12) x":                                {4, "rank4", "x"},
		"(Worker_TP4_EP4 pid=2532) ERROR 12-29 15:21:11 [m.py:751] x": {NoRank, "Worker_TP4_EP4 pid=2532", "ERROR 12-29 15:21:11 [m.py:751] x"},
		"(raylet) text":                                               {NoRank, "raylet", "text"},
		"(RayTrainWorker pid=4, ip=10.0.0.2) [rank5]: x [repeated 7x across cluster] (Ray deduplicates.)": {5, "rank5", "x"},
		"2023-04-29 06:01:12.977 [177/train/578 (pid 28936)] text":                                        {NoRank, "177/train/578 (pid 28936)", "text"},
		"2024-05-01T12:00:00.1234567Z [rank1]: text":                                                      {1, "rank1", "text"},
		"2024-05-01T12:00:00.123456789+02:00 stderr F":                                                    {NoRank, "", ""},
		"2024-05-01T12:00:00.123456789+02:00 stderr F text":                                               {NoRank, "", "text"},
		"trainer-1  | text":                          {NoRank, "trainer-1", "text"},
		"[E ProcessGroupNCCL.cpp:737] [Rank 1] text": {1, "rank1", "[E ProcessGroupNCCL.cpp:737] [Rank 1] text"},
		"[PG ID 0 PG GUID 0(default_pg) Rank 5] x":   {5, "rank5", "[PG ID 0 PG GUID 0(default_pg) Rank 5] x"},
		"[rank: 2] Seed set to 42":                   {2, "rank2", "[rank: 2] Seed set to 42"},
		"vm:5203:5204 [0] NCCL INFO x":               {NoRank, "vm:5203", "vm:5203:5204 [0] NCCL INFO x"},
		"[1,mpirank:9,algo-1]<stderr>:text":          {9, "rank9", "text"},
		"algo-1-7vp5o  | text":                       {NoRank, "algo-1-7vp5o", "text"},
		"rank4:   File \"x\"":                        {4, "rank4", "  File \"x\""},
		"Rank 4: text":                               {4, "rank4", "text"},
		"ranking 4: text":                            {NoRank, "", "ranking 4: text"},
		"[rank=5] text":                              {5, "rank5", "[rank=5] text"},
		"2024-05-01T12:00:00.1234567Z ##[error]text": {NoRank, "", "text"},
		`{"log":"[rank1]: a \"b\"\u001b[0m\n","stream":"stderr","time":"2024-05-01T12:00:00.5Z"}`: {1, "rank1", `a "b"`},
		`{"log":"cut`:      {NoRank, "", `{"log":"cut`},
		"3: text":          {NoRank, "", "3: text"},
		"[step10]: text":   {NoRank, "", "[step10]: text"},
		"[0] a list? [1]":  {NoRank, "", "[0] a list? [1]"},
		"(see a, b) text":  {NoRank, "", "(see a, b) text"},
		"epoch 1 | loss 2": {NoRank, "", "epoch 1 | loss 2"},
		"[74889.542031] NVRM: Xid (PCI:0000:0a:00): 79": {NoRank, "", "[74889.542031] NVRM: Xid (PCI:0000:0a:00): 79"},
	} {
		got := one(t, raw)
		if got.Rank != want.rank || got.Writer != want.writer || got.Text != want.text {
			t.Errorf("%q:\ngot  %d %q %q\nwant %d %q %q", raw, got.Rank, got.Writer, got.Text, want.rank, want.writer, want.text)
		}
	}
}

func TestRecords(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse("2006-01-02 15:04:05.999999999", s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for raw, want := range map[string]struct {
		level Level
		time  time.Time
		body  string
	}{
		"[rank1]:[E626 06:24:44.903881913 ProcessGroupNCCL.cpp:616] x":       {Error, at("0000-06-26 06:24:44.903881913"), "x"},
		"[rank1]:[W1120 06:24:44.9 a.cpp:616] x":                             {Warning, at("0000-11-20 06:24:44.9"), "x"},
		"[E ProcessGroupNCCL.cpp:737] x":                                     {Error, time.Time{}, "x"},
		"W1120 14:44:24.223000 4296 torch/distributed/run.py:1012] x":        {Warning, at("0000-11-20 14:44:24.223"), "x"},
		"W1120 14:44:24.223000 4296 torch/_dynamo/c.py:1743] [0/8] x":        {Warning, at("0000-11-20 14:44:24.223"), "x"},
		"E0000 00:00:1746431.3 4046 cuda_dnn.cc:8310] x":                     {Error, time.Time{}, "x"},
		"[2024-09-11 17:52:18,030] [INFO] [loss_scaler.py:183:update] x":     {Info, at("2024-09-11 17:52:18.03"), "x"},
		"[2024-04-24 23:07:58,741] torch.elastic.api: [ERROR] x":             {Error, at("2024-04-24 23:07:58.741"), "x"},
		" [2026-11-19 03:00:01] iteration 1":                                 {"", at("2026-11-19 03:00:01"), "iteration 1"},
		"    2026-11-19 03:00:01,255 [CRITICAL] x":                           {Fatal, at("2026-11-19 03:00:01.255"), "x"},
		"    2026 apples were weighed":                                       {"", time.Time{}, "    2026 apples were weighed"},
		"ERROR:torch.distributed.elastic.api:x":                              {Error, time.Time{}, "x"},
		"DEBUG:2025-05-24 03:30:22,799:x":                                    {Debug, at("2025-05-24 03:30:22.799"), "x"},
		"[DEBUG    | DotProductAttention]: x":                                {Debug, time.Time{}, "x"},
		"[INFO|trainer.py:2926] 2024-05-24 03:30:22,799 >> x":                {Info, at("2024-05-24 03:30:22.799"), "x"},
		"[WARNING] [comm.py:152:init] x":                                     {Warning, time.Time{}, "x"},
		"2026-05-18 12:51:27.57 DEBUG: x":                                    {Debug, at("2026-05-18 12:51:27.57"), "x"},
		"2024-05-24 03:30:22,123 - my.name - ERROR - x":                      {Error, at("2024-05-24 03:30:22.123"), "x"},
		"05/24/2024 03:30:22 - INFO - __main__ - x":                          {Info, at("2024-05-24 03:30:22"), "x"},
		"2024-05-24 03:30:22.123 | ERROR    | mod:func:12 - x":               {Error, at("2024-05-24 03:30:22.123"), "x"},
		"2023-04-29 06:01:12 ERROR [__main__] x":                             {Error, at("2023-04-29 06:01:12"), "x"},
		"2023-12-05 09:29:18.697209: E tensorflow/cuda_dnn.cc:9342] x":       {Error, at("2023-12-05 09:29:18.697209"), "x"},
		"ERROR 12-29 15:21:11 [multiproc_executor.py:751] x":                 {Error, at("0000-12-29 15:21:11"), "x"},
		"[2025-12-07 09:57:19,206 E 393463 393463] (raylet) node.cc:3277: x": {Error, at("2025-12-07 09:57:19.206"), "x"},
		"[NeMo W 2024-05-24 03:30:22 nemo:12] x":                             {Warning, at("2024-05-24 03:30:22"), "x"},
		"plain text":                                                         {"", time.Time{}, "plain text"},
		"Iteration 3: loss":                                                  {"", time.Time{}, "Iteration 3: loss"},
		"INFORMATION: no":                                                    {"", time.Time{}, "INFORMATION: no"},
		"[1, 2, 3]":                                                          {"", time.Time{}, "[1, 2, 3]"},
		"12:34 oddly":                                                        {"", time.Time{}, "12:34 oddly"},
	} {
		got := one(t, raw)
		if got.Level != want.level || !got.Time.Equal(want.time) || got.Body() != want.body {
			t.Errorf("%q:\ngot  %q %v %q\nwant %q %v %q", raw, got.Level, got.Time, got.Body(), want.level, want.time, want.body)
		}
	}
	zoned := one(t, "2024-05-01T12:00:00.5+02:00 x")
	if !zoned.Time.Equal(at("2024-05-01 10:00:00.5")) || zoned.Text != "x" {
		t.Errorf("%v %q", zoned.Time, zoned.Text)
	}
}

// TestLabels tells the labels of srun and pdsh from text that looks the same.
func TestLabels(t *testing.T) {
	label := func(format string, n, of int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i%of)
		}
		return b.String()
	}
	for name, test := range map[string]struct {
		log, text, writer string
		rank              int
	}{
		"srun":             {label("%2d: step", 40, 16), "step", "rank7", 7},
		"srun, some lines": {"module load x\nsrun: job 3 queued\n" + label("%d: step", 40, 16), "step", "rank7", 7},
		"srun of torchrun": {label("%d: step", 40, 4) + "1: [default0]:[rank8]: x\n", "step", "7", NoRank},
		"srun of ranks":    {label("%d: step", 40, 4) + "1: [rank1]: x\n", "step", "rank7", 7},
		"srun, traceback":  {"a\nb\nc\n 7: Traceback (most recent call last):\n", "step", "rank7", 7},
		"enumeration":      {label("%d: step", 40, 40), " 7: step", "", NoRank},
		"too few":          {label("%d: step", 6, 2), " 7: step", "", NoRank},
		"mostly other":     {label("step %d", 200, 16) + label("%d: step", 40, 16), " 7: step", "", NoRank},
		"pdsh":             {label("worker-%d: step", 40, 4), "step", "worker-7", NoRank},
		"dates":            {label("2024-01-%02d: step", 40, 4), " 7: step", "", NoRank},
		"words":            {label("loss: %d", 40, 4), "loss: 7", "", NoRank},
	} {
		line := " 7: step"
		if name == "pdsh" {
			line = "worker-7: step"
		} else if name == "words" {
			line = "loss: 7"
		}
		form := Sniff("x.log", []byte(test.log))
		form.Clean(1, []byte(line), func(l Line) error {
			if l.Text != test.text || l.Writer != test.writer || l.Rank != test.rank {
				t.Errorf("%s: got %q %q %d", name, l.Text, l.Writer, l.Rank)
			}
			return nil
		})
	}
}

func TestRankOfPath(t *testing.T) {
	for path, want := range map[string]int{
		"logs/attempt_0/3/stderr.log": 3, "rank_3.log": 3, "log_rank12.txt": 12, "train.3.log": 3, "out/rank-7/train.log": 7, "Rank5.err": 5,
		"worker_4.log": 4, `C:\logs\rank_2.log`: 2, "rank_3.log.gz": 3, "attempt_1/0/stdout.log": 0, "frank3.log": NoRank,
		"train.log": NoRank, "-": NoRank, "": NoRank, "slurm-123456.out": NoRank, "2024/5/train.log": NoRank, "train.log.3": NoRank,
		"rank_99999999999999999999.log": NoRank, "run_rank/train.log": NoRank, "gpu7.log": 7, "node_0_rank_3.log": 3,
	} {
		if got := rankOfPath(path); got != want {
			t.Errorf("rankOfPath(%q) = %d, want %d", path, got, want)
		}
	}
}

// TestPartsShareTheWriter: what follows a carriage return is from the same process unless it says otherwise.
func TestPartsShareTheWriter(t *testing.T) {
	var got []string
	Sniff("x", nil).Clean(7, []byte("[rank2]:  10%|#\r 20%|##\r\x1b[K\r[rank3]: x\r"), func(l Line) error {
		got = append(got, fmt.Sprintf("%d %d %s", l.Number, l.Rank, l.Text))
		return nil
	})
	if diff := cmp.Diff([]string{"7 2  10%|#", "7 2  20%|##", "7 3 x"}, got); diff != "" {
		t.Error(diff)
	}
}
