package traceback

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/matcher/logline"
)

func TestFailures(t *testing.T) {
	exceptions, lines := read(t, "x.log", `torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-20_14:47:51
  host      : node7
  rank      : 8 (local_rank: 0)
  exitcode  : -15 (pid: 4785)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 4785
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-20_14:47:50
  host      : node8
  rank      : 9 (local_rank: 1)
  exitcode  : 1 (pid: 4786)
  error_file: /tmp/x/error.json
  traceback : Traceback (most recent call last):
    File "a.py", line 1, in f
      x
  ValueError: bad
============================================================
`)
	if len(exceptions) != 1 || len(lines) != 0 {
		t.Fatalf("%d exceptions, lines %q", len(exceptions), lines)
	}
	got := exceptions[0].Failures
	for i := range got {
		got[i].Line = logline.Line{Number: got[i].Line.Number}
		got[i].Raised = nil
	}
	want := []Failure{
		{Rank: 8, LocalRank: 0, Host: "node7", PID: 4785, ExitCode: -15, Time: "2026-11-20_14:47:51", Line: logline.Line{Number: 10}, Said: "Signal 15 (SIGTERM) received by PID 4785"},
		{First: true, Rank: 9, LocalRank: 1, Host: "node8", PID: 4786, ExitCode: 1, Time: "2026-11-20_14:47:50", ErrorFile: "/tmp/x/error.json", Line: logline.Line{Number: 19},
			Said: "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x\nValueError: bad"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUserFrame(t *testing.T) {
	e := Exception{Frames: []Frame{
		{File: "/usr/local/bin/torchrun"}, {File: "/w/train.py"}, {File: `C:\Users\me\train.py`, Line: 1},
		{File: "/usr/lib/python3.10/runpy.py"}, {File: "<frozen importlib._bootstrap>"}, {File: "/opt/conda/lib/python3.11/site-packages/torch/x.py"},
		{File: "/usr/local/lib/python3.12/dist-packages/x.py"}, {File: `C:\Python310\lib\site-packages\torch\x.py`}, {File: "cupy/_core/raw.pyx"}, {File: ""},
	}}
	if f := e.UserFrame(); f == nil || f.File != `C:\Users\me\train.py` {
		t.Errorf("got %+v", f)
	}
	generated := Frame{File: "<string>", Function: "raise_it"}
	if generated.User() || !(Frame{File: "<string>", Function: "<module>"}).User() {
		t.Error("of the code in <string>, only what python -c runs is the user's own")
	}
	e.Frames = e.Frames[3:]
	if f := e.UserFrame(); f != nil {
		t.Errorf("got %+v", f)
	}
	if got := (Frame{File: "/x/lib/python3.10/site-packages/torch/nn/__init__.py"}).Module(); got != "torch.nn" {
		t.Errorf("module %q", got)
	}
}
