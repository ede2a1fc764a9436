package traceback

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/logline/loglinetest"
)

// read assembles a log and gives its exceptions and its other lines.
func read(t *testing.T, source, log string) (exceptions []*Exception, lines []string) {
	t.Helper()
	a := NewAssembler(func(e *Exception, l logline.Line) {
		if e != nil {
			exceptions = append(exceptions, e)
		} else {
			lines = append(lines, l.Text)
		}
	}, nil)
	if _, err := loglinetest.ReadLines(strings.NewReader(log), source, func(l logline.Line) error { a.Feed(l); return nil }); err != nil {
		t.Fatal(err)
	}
	a.Close()
	return exceptions, lines
}

// outline shows exceptions on one line each: line:type: message [frames] {attributes}, those of a chain and of a group indented.
func outline(exceptions []*Exception, indent string) string {
	var b strings.Builder
	for _, e := range exceptions {
		fmt.Fprintf(&b, "%s%d:%s: %q", indent, e.Line.Number, e.Type, e.Message)
		for _, f := range e.Frames {
			fmt.Fprintf(&b, " [%s:%d %s|%s", f.File, f.Line, f.Function, f.Code)
			if f.Repeated > 0 {
				fmt.Fprintf(&b, " x%d", f.Repeated)
			}
			b.WriteString("]")
		}
		if e.Line.Rank != logline.NoRank {
			fmt.Fprintf(&b, " rank=%d", e.Line.Rank)
		}
		if e.Level != "" {
			fmt.Fprintf(&b, " level=%s", e.Level)
		}
		if e.Swallowed {
			b.WriteString(" swallowed")
		}
		b.WriteString("\n")
		if e.Earlier != nil {
			b.WriteString(indent + "  " + string(e.Link) + "\n" + outline([]*Exception{e.Earlier}, indent+"  "))
		}
		b.WriteString(outline(e.Within, indent+"  | "))
	}
	return b.String()
}

func TestAssembler(t *testing.T) {
	for _, test := range []struct{ name, log, want, lines string }{
		{name: "plain", log: `
start
Traceback (most recent call last):
  File "/w/a.py", line 3, in <module>
    main(x)
    ~~~~^^^
  File "C:\w\b.py", line 4, in main
    raise ValueError("no")
ValueError: no
done: 1`,
			want:  `9:ValueError: "no\ndone: 1" [/w/a.py:3 <module>|main(x)] [C:\w\b.py:4 main|raise ValueError("no")]`,
			lines: "|start"},
		{name: "nothing in the message", log: `
Traceback (most recent call last):
  File "a.py", line 3, in f
KeyboardInterrupt
[2026-01-02 03:04:05,678] [INFO] [a.py:3:f] goes on`,
			want: `4:KeyboardInterrupt: "" [a.py:3 f|]`, lines: "|[2026-01-02 03:04:05,678] [INFO] [a.py:3:f] goes on"},
		{name: "recursion", log: `
Traceback (most recent call last):
  File "a.py", line 3, in f
    return f(x)
  [Previous line repeated 975 more times]
RecursionError: maximum recursion depth exceeded`,
			want: `6:RecursionError: "maximum recursion depth exceeded" [a.py:3 f|return f(x) x975]`},
		{name: "syntax error", log: `
  File "a.py", line 3
    foo(
       ^
SyntaxError: '(' was never closed`,
			want: `5:SyntaxError: "'(' was never closed" [a.py:3 |foo(]`},
		{name: "frames without end are given back", log: `
User stack trace:
  File "a.py", line 3, in f
    x = y
step 2`,
			lines: `|User stack trace:|  File "a.py", line 3, in f|    x = y|step 2`},
		{name: "lone lines", log: `
torch.OutOfMemoryError: CUDA out of memory.
Error: not Python's
ncclInternalError: Internal check failed.
zmq.error.ZMQError: Address already in use
KeyError
NotAnErrorAtAll: x
step: 3
AcceleratorError: CUDA error: an illegal memory access was encountered
CUDA kernel errors might be asynchronously reported.`,
			want: `2:torch.OutOfMemoryError: "CUDA out of memory.\nError: not Python's\nncclInternalError: Internal check failed."
5:zmq.error.ZMQError: "Address already in use"
6:KeyError: "NotAnErrorAtAll: x\nstep: 3"
9:AcceleratorError: "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported."`,
		},
		{name: "chain", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
KeyError: 1

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "a.py", line 2, in g
RuntimeError: two

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in h
OSError: three

goodbye`,
			want: `16:OSError: "three" [a.py:3 h|]
  during handling
  10:RuntimeError: "two" [a.py:2 g|]
    direct cause
    4:KeyError: "1" [a.py:1 f|]`, lines: "|goodbye"},
		{name: "worker", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
RuntimeError: Caught KeyError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "b.py", line 2, in g
KeyError: 'x'

wandb: done`,
			want: `4:RuntimeError: "Caught KeyError in DataLoader worker process 0." [a.py:1 f|]
  relayed
  7:KeyError: "'x'" [b.py:2 g|]`, lines: "|wandb: done"},
		{name: "spawned", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
torch.multiprocessing.spawn.ProcessRaisedException: 

-- Process 1 terminated with the following error:
Traceback (most recent call last):
  File "b.py", line 2, in g
ValueError: bad

`,
			want: `4:torch.multiprocessing.spawn.ProcessRaisedException: "-- Process 1 terminated with the following error:" [a.py:1 f|]
  relayed
  9:ValueError: "bad" [b.py:2 g|]`},
		{name: "pool", log: `
concurrent.futures.process._RemoteTraceback: 
"""
Traceback (most recent call last):
  File "b.py", line 2, in g
ValueError: bad
"""

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "a.py", line 1, in f
ValueError: bad`,
			want: `13:ValueError: "bad" [a.py:1 f|]
  direct cause
  2:concurrent.futures.process._RemoteTraceback: ""
    relayed
    6:ValueError: "bad" [b.py:2 g|]`},
		{name: "ray task", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
ray.exceptions.RayTaskError(ValueError): ray::Worker.step() (pid=12, ip=10.0.0.1)
  File "w.py", line 9, in step
    raise ValueError("x")
ValueError: x
(Worker pid=12, ip=10.0.0.1) ZeroDivisionError: division by zero [repeated 7x across cluster] (Ray deduplicates logs.)`,
			want: `4:ray.exceptions.RayTaskError(ValueError): "ray::Worker.step() (pid=12, ip=10.0.0.1)" [a.py:1 f|]
  relayed
  7:ValueError: "x" [w.py:9 step|raise ValueError("x")]
8:ZeroDivisionError: "division by zero"`},
		{name: "ray, older chain", log: `
ray.exceptions.RayTaskError(KeyError): ray::g() (pid=1, ip=10.0.0.1)
KeyError: 'inner'

The above exception was the direct cause of the following exception:

ray::f() (pid=2, ip=10.0.0.1)
  File "x.py", line 3, in f
    ray.get(g.remote())
RuntimeError: outer`,
			want: `2:ray.exceptions.RayTaskError(KeyError): "ray::g() (pid=1, ip=10.0.0.1)"
  relayed
  10:RuntimeError: "outer" [x.py:3 f|ray.get(g.remote())]
    direct cause
    3:KeyError: "'inner'"`, lines: "|ray::f() (pid=2, ip=10.0.0.1)"},
		{name: "ray within ray", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
ray.exceptions.RayTaskError(OutOfMemoryError): ray::TaskRunner.run() (pid=1, ip=10.0.0.1, repr=<main.TaskRunner object at 0x7f>)
           ^^^^^^^^^^^^^
  File "b.py", line 2, in run
    fit()
ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.step() (pid=2, ip=10.0.0.1)
  File "c.py", line 3, in step
torch.OutOfMemoryError: CUDA out of memory.`,
			want: `4:ray.exceptions.RayTaskError(OutOfMemoryError): "ray::TaskRunner.run() (pid=1, ip=10.0.0.1, repr=<main.TaskRunner object at 0x7f>)\n           ^^^^^^^^^^^^^" [a.py:1 f|]
  relayed
  8:ray.exceptions.RayTaskError(OutOfMemoryError): "ray::WorkerDict.step() (pid=2, ip=10.0.0.1)" [b.py:2 run|fit()]
    relayed
    10:torch.OutOfMemoryError: "CUDA out of memory." [c.py:3 step|]`},
		{name: "printed after what a message relays", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
OSError: no library for version 8

Version 4:
Traceback (most recent call last):
  File "b.py", line 2, in g
OSError: no library for version 4
[end of what was tried]
step 1
Traceback (most recent call last):
  File "c.py", line 3, in h
TypeError: unexpected argument`,
			want: `4:OSError: "no library for version 8\n\nVersion 4:" [a.py:1 f|]
  relayed
  9:OSError: "no library for version 4\n[end of what was tried]\nstep 1" [b.py:2 g|]
14:TypeError: "unexpected argument" [c.py:3 h|]`},
		{name: "compiler", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
torch._dynamo.exc.BackendCompilerFailed: backend='x' raised:
RuntimeError: no
line two

Set TORCHDYNAMO_VERBOSE=1
Traceback (most recent call last):
  File "b.py", line 2, in g
RuntimeError: The following operation failed in the TorchScript interpreter.
Traceback of TorchScript (most recent call last):
  File "c.py", line 3, in h
    @torch.jit.script
    def h(x): return x.view(3,5)
                     ~~~~~~ <--- HERE
RuntimeError: shape is invalid`,
			want: `4:torch._dynamo.exc.BackendCompilerFailed: "backend='x' raised:\nRuntimeError: no\nline two" [a.py:1 f|]
11:RuntimeError: "The following operation failed in the TorchScript interpreter." [b.py:2 g|]
  relayed
  17:RuntimeError: "shape is invalid" [c.py:3 h|@torch.jit.script]`, lines: "|Set TORCHDYNAMO_VERBOSE=1"},
		{name: "mpirun", log: `
[1,2]<stderr>:Traceback (most recent call last):
[1,2]<stderr>:  File "/tmp/b.py", line 8, in <module>
[1,2]<stderr>:    raise RuntimeError("rank two")
[1,2]<stderr>:             ^[1,2]<stderr>:^^^[1,2]<stderr>:
[1,1]<stdout>:up 1
[1,2]<stderr>:RuntimeError: rank two
[1,2]<stderr>:  is bad[1,2]<stderr>:
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned`,
			want:  `7:RuntimeError: "rank two\n  is bad" [/tmp/b.py:8 <module>|raise RuntimeError("rank two")] rank=2`,
			lines: "|up 1|--------------------------------------------------------------------------|Primary job  terminated normally, but 1 process returned"},
		{name: "mpirun without tags", log: `
Traceback (most recent call last):
  File "/tmp/b.py", line 8, in <module>
RuntimeError: rank two
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned`,
			want:  `4:RuntimeError: "rank two" [/tmp/b.py:8 <module>|]`,
			lines: "|--------------------------------------------------------------------------|Primary job  terminated normally, but 1 process returned"},
		{name: "vLLM's engine", log: `
(EngineCore_DP0 pid=269) ERROR 10-01 12:00:00 [core.py:708] EngineCore failed to start.
(EngineCore_DP0 pid=269) ERROR 10-01 12:00:00 [core.py:708] Traceback (most recent call last):
(Worker_TP1 pid=270) ERROR 10-01 12:00:00 [m.py:1] WorkerProc hit an exception.
(EngineCore_DP0 pid=269) ERROR 10-01 12:00:00 [core.py:708]   File "a.py", line 1, in f
(EngineCore_DP0 pid=269) ERROR 10-01 12:00:00 [core.py:708]     run()
(EngineCore_DP0 pid=269) ERROR 10-01 12:00:00 [core.py:708] RuntimeError: CUDA error: invalid argument
(EngineCore_DP0 pid=269) ERROR 10-01 12:00:00 [core.py:708] Compile with TORCH_USE_CUDA_DSA
(EngineCore_DP0 pid=269) Process EngineCore_DP0:`,
			want:  `7:RuntimeError: "CUDA error: invalid argument\nCompile with TORCH_USE_CUDA_DSA" [a.py:1 f|run()] level=error`,
			lines: "|ERROR 10-01 12:00:00 [core.py:708] EngineCore failed to start.|ERROR 10-01 12:00:00 [m.py:1] WorkerProc hit an exception.|Process EngineCore_DP0:"},
		{name: "loguru", log: `
2024-05-24 03:30:22.123 | ERROR    | __main__:<module>:12 - failed
Traceback (most recent call last):

> File "/w/a.py", line 10, in <module>
    foo(x)
    │   └ 3
    └ <function foo at 0x7f>

  File "/w/a.py", line 5, in foo
    return 1 / 0

ZeroDivisionError: division by zero`,
			want:  `13:ZeroDivisionError: "division by zero" [/w/a.py:10 <module>|foo(x)] [/w/a.py:5 foo|return 1 / 0]`,
			lines: "|2024-05-24 03:30:22.123 | ERROR    | __main__:<module>:12 - failed"},
		{name: "pytest", log: `
    def f():
>       raise RuntimeError("a\nb")
E       RuntimeError: a
E       b

a.py:3: RuntimeError`,
			want:  `4:RuntimeError: "a\nb"`,
			lines: `|    def f():|>       raise RuntimeError("a\nb")|a.py:3: RuntimeError`},
		{name: "Docker's JSON", log: `
{"log":"Traceback (most recent call last):\n","stream":"stderr","time":"2024-05-01T12:00:00.5Z"}
{"log":"  File \"a.py\", line 1, in f\n","stream":"stderr","time":"2024-05-01T12:00:00.5Z"}
{"log":"KeyError: 1\n","stream":"stderr","time":"2024-05-01T12:00:00.5Z"}`,
			want: `4:KeyError: "1" [a.py:1 f|]`},
		{name: "two ranks mixed", log: `
[rank0]: Traceback (most recent call last):
[rank1]: Traceback (most recent call last):
[rank0]:   File "a.py", line 1, in f
[rank1]:   File "a.py", line 2, in g
[rank0]:     x = 1
W1120 14:44:24.223000 4296 torch/api.py:1012] Sending process 4336 closing signal SIGTERM
[rank1]: KeyError: 'one'
[rank0]: RuntimeError: NCCL error
[rank0]: ncclRemoteError: A call failed possibly due to a network error.
[rank0]: Last error:
[rank0]: socket closed
[rank1]:[W1120 06:24:44.9 ProcessGroup.cpp:616] Warning: not destroyed`,
			want: `8:KeyError: "'one'" [a.py:2 g|] rank=1
9:RuntimeError: "NCCL error\nncclRemoteError: A call failed possibly due to a network error.\nLast error:\nsocket closed" [a.py:1 f|x = 1] rank=0`,
			lines: "|W1120 14:44:24.223000 4296 torch/api.py:1012] Sending process 4336 closing signal SIGTERM|[W1120 06:24:44.9 ProcessGroup.cpp:616] Warning: not destroyed"},
		{name: "two processes mixed without a prefix", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
Traceback (most recent call last):
  File "a.py", line 2, in g
RuntimeErrorRuntimeError: : both
ValueError: one`,
			want: `6:RuntimeError: "both" [a.py:2 g|]
7:ValueError: "one" [a.py:1 f|]`},
		{name: "logged, every line", log: `
W1120 14:41:01.988000 2175 torch/_dynamo/convert_frame.py:1743] [0/8] Traceback (most recent call last):
W1120 14:41:01.988000 2175 torch/_dynamo/convert_frame.py:1743] [0/8]   File "a.py", line 1, in f
W1120 14:41:01.988000 2175 torch/_dynamo/convert_frame.py:1743] [0/8] RuntimeError: first
W1120 14:41:01.988000 2175 torch/_dynamo/convert_frame.py:1743] [0/8] second
W1120 14:41:02.100000 2175 torch/_dynamo/convert_frame.py:1743] [0/8] something else`,
			want: `4:RuntimeError: "first\nsecond" [a.py:1 f|] level=warning`, lines: "|W1120 14:41:02.100000 2175 torch/_dynamo/convert_frame.py:1743] [0/8] something else"},
		{name: "logged, first line only", log: `
ERROR:root:Traceback (most recent call last):
  File "a.py", line 1, in f
KeyError: 1
INFO:root:goes on`,
			want: `4:KeyError: "1" [a.py:1 f|] level=error`, lines: "|INFO:root:goes on"},
		{name: "an unknown prefix", log: `
~17:03:01~ job7 > Traceback (most recent call last):
~17:03:01~ job7 >   File "a.py", line 1, in f
somebody else
~17:03:02~ job7 > KeyError: 1
~17:03:02~ job7 > an ordinary line`,
			want: `5:KeyError: "1" [a.py:1 f|]`, lines: "|somebody else|~17:03:02~ job7 > an ordinary line"},
		{name: "after a progress bar", log: "\n 50%|#####     | 5/10 [00:01<00:01]\r 60%|######    | 6/10 [00:01<00:01]Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 1\n 70%|#######   | 7/10",
			want: `4:KeyError: "1" [a.py:1 f|]`, lines: "| 50%|#####     | 5/10 [00:01<00:01]| 70%|#######   | 7/10"},
		{name: "ignored", log: `
Exception ignored in: <function A.__del__ at 0x7f>
Traceback (most recent call last):
  File "a.py", line 1, in f
TypeError: 'NoneType' object is not callable
Exception ignored in: <nothing follows>`,
			want: `5:TypeError: "'NoneType' object is not callable" [a.py:1 f|] swallowed`, lines: "|Exception ignored in: <nothing follows>"},
		{name: "group", log: `
Traceback (most recent call last):
  File "a.py", line 9, in z
KeyError: 'z'

The above exception was the direct cause of the following exception:

  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in f
  |     raise eg
  | ExceptionGroup: several (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "a.py", line 2, in g
    | ValueError: one
has two lines
    +---------------- 2 ----------------
    | Exception Group Traceback (most recent call last):
    |   File "a.py", line 3, in h
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | TypeError: two
      +------------------------------------
after`,
			want: `11:ExceptionGroup: "several (2 sub-exceptions)" [a.py:1 f|raise eg]
  relayed
  15:ValueError: "one\nhas two lines" [a.py:2 g|]
    direct cause
    4:KeyError: "'z'" [a.py:9 z|]
  | 20:ExceptionGroup: "inner (1 sub-exception)" [a.py:3 h|]
  |   relayed
  |   22:TypeError: "two"`, lines: "|after"},
		{name: "fault handler", log: `
Fatal Python error: Segmentation fault

Thread 0x00007f0d (most recent call first):
  File "/lib/s.py", line 8 in sleep

Current thread 0x00007f0f (most recent call first):
  File "/w/b.py", line 4 in inner
  File "/w/a.py", line 3 in <module>

Thread 0x00007f0e (most recent call first):
  File "/lib/t.py", line 9 in wait

Extension modules: numpy`,
			want: `2:Fatal Python error: "Segmentation fault" [/w/a.py:3 <module>|] [/w/b.py:4 inner|]`, lines: "|Extension modules: numpy"},
		{name: "C++ exception", log: `
terminate called after throwing an instance of 'c10::Error'
  what():  CUDA error: unspecified launch failure
CUDA kernel errors might be asynchronously reported at some other API call.
Exception raised from c10_cuda_check at /p/x.cpp:43 (most recent call first):
frame #0: c10::Error::Error() + 0x9d (0x7f in /lib/libc10.so)
frame #1: <unknown function>

[node1:1:2] next`,
			want:  `2:c10::Error: "CUDA error: unspecified launch failure\nCUDA kernel errors might be asynchronously reported at some other API call."`,
			lines: "|Exception raised from c10_cuda_check at /p/x.cpp:43 (most recent call first):|frame #0: c10::Error::Error() + 0x9d (0x7f in /lib/libc10.so)|frame #1: <unknown function>|[node1:1:2] next"},
		{name: "a list of strings", log: `
failed: ['Traceback (most recent call last):\n', '  File "a.py", line 1, in f\n    x = \'y\'\n', 'KeyError: 1\n']
{"error": "Traceback (most recent call last):\n  File \"b.py\", line 2, in g\nValueError: two"}`,
			want: `2:KeyError: "1" [a.py:1 f|x = 'y']
3:ValueError: "two" [b.py:2 g|]`},
		{name: "box", log: `
╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /w/train.py:12 in main                                                       │
│                                                                              │
│    9 │   a = 1                                                               │
│ ❱ 12 │   raise RuntimeError(msg)                                             │
╰──────────────────────────────────────────────────────────────────────────────╯
RuntimeError: mat1 and mat2 shapes cannot be multiplied because the number of
columns of the first is not the number of rows of the second
second line`,
			want: `8:RuntimeError: "mat1 and mat2 shapes cannot be multiplied because the number of columns of the first is not the number of rows of the second\nsecond line" [/w/train.py:12 main|raise RuntimeError(msg)]`},
		{name: "notebook", log: `
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[3], line 2
      1 a = 1
----> 2 f(a)

File /w/lib.py:7, in f(a)
      6 def f(a):
----> 7     raise RuntimeError("x")

RuntimeError: x`,
			want:  `12:RuntimeError: "x" [Cell In[3]:2 |f(a)] [/w/lib.py:7 f|raise RuntimeError("x")]`,
			lines: "|---------------------------------------------------------------------------"},
		{name: "cut off", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
    x`,
			want: `2:: "" [a.py:1 f|x]`},
		{name: "only talked about", log: `
see the Traceback (most recent call last): above
done`, lines: "|see the Traceback (most recent call last): above|done"},
	} {
		t.Run(test.name, func(t *testing.T) {
			exceptions, lines := read(t, "x.log", test.log)
			if diff := cmp.Diff(strings.TrimSpace(test.want), strings.TrimSpace(outline(exceptions, ""))); diff != "" {
				t.Errorf("exceptions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.lines, strings.Join(lines, "|")); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

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
	e.Frames = e.Frames[3:]
	if f := e.UserFrame(); f != nil {
		t.Errorf("got %+v", f)
	}
	if got := (Frame{File: "/x/lib/python3.10/site-packages/torch/nn/__init__.py"}).Module(); got != "torch.nn" {
		t.Errorf("module %q", got)
	}
}

// brief shows of each exception what was first said, by which rank, how deep in whose code, and what it follows from.
func brief(exceptions []*Exception) string {
	var b strings.Builder
	for _, e := range exceptions {
		for {
			message, _, _ := strings.Cut(e.Message, "\n")
			fmt.Fprintf(&b, "%d-%d:%s: %.60s [%d]", e.Line.Number, e.Last().Number, e.Name(), message, len(e.Frames))
			if f := e.UserFrame(); f != nil {
				fmt.Fprintf(&b, " %s:%d", f.File, f.Line)
			}
			if e.Line.Rank != logline.NoRank {
				fmt.Fprintf(&b, " rank %d", e.Line.Rank)
			}
			for _, f := range e.Failures {
				if f.First {
					fmt.Fprintf(&b, " first of %d: rank %d exit %d", len(e.Failures), f.Rank, f.ExitCode)
				}
			}
			if e.Swallowed {
				b.WriteString(" swallowed")
			}
			if e.Level != "" {
				fmt.Fprintf(&b, " level %s", e.Level)
			}
			if e.Earlier == nil {
				break
			}
			fmt.Fprintf(&b, " <%s> ", e.Link)
			e = e.Earlier
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestRealLogs reads logs of real failures (8 H200 GPUs, PyTorch 2.11).
func TestRealLogs(t *testing.T) {
	for name, test := range map[string]struct {
		want  string
		plain int
	}{
		"gloo-rank-dies.log": {plain: 36, want: `36-36:FileNotFoundError: [Errno 2] No such file or directory: '/data/train/shard_0000 [2] /workspace/train/main.py:90 rank 5
49-49:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [4] /workspace/train/main.py:91 rank 4
62-62:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [4] /workspace/train/main.py:91 rank 6
75-75:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [4] /workspace/train/main.py:91 rank 7
88-88:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [4] /workspace/train/main.py:91 rank 3
113-176:ChildFailedError: ============================================================ [6] first of 8: rank 5 exit 1
`},
		"worker-raises.log": {plain: 1, want: `17-17:FileNotFoundError: Caught FileNotFoundError in DataLoader worker process 3. [6] /workspace/train/main.py:262 <relayed> 28-28:FileNotFoundError: [Errno 2] No such file or directory: '/data/shards/shard-000 [3] /workspace/train/main.py:260
`},
		"spawn-fail.log": {plain: 2, want: `17-19:ProcessRaisedException: -- Process 1 terminated with the following error: [5] /workspace/train/main.py:6 <relayed> 26-26:ValueError: tokenizer produced 0 tokens for document 91823 [2] /workspace/train/main.py:8
`},
		"nvrtc-cupy.log": {plain: 3, want: `38-40:CompileException: /tmp/tmpggpyai1y/ceeabb51803b23690bdcb53203b83ab4104a2f82.cu [14] /workspace/train/main.py:119 <during handling> 8-8:NVRTCError: NVRTC_ERROR_COMPILATION (6) [4]
`},
		"nccl-timeout.log": {plain: 58, want: `43-44:DistBackendError: [PG ID 0 PG GUID 0(default_pg) Rank 0] Process group watchdo [0] rank 0
79-100:ChildFailedError: ====================================================== [6] first of 2: rank 0 exit -6
`},
		"nvrtc-jiterator.log": {plain: 3, want: `11-441:RuntimeError:   #ifdef __HIPCC__ [3] /workspace/train/main.py:125
`},
		"compile-fullgraph.log": {plain: 3, want: `10-22:Unsupported: Failed to trace builtin operator [3] /workspace/train/main.py:424
`},
		"torchrun-tee-dl.log": {plain: 14, want: `27-27:ValueError: Caught ValueError in DataLoader worker process 0. [7] /tmp/a.py:15 rank 2 <relayed> 40-41:ValueError: bad sample 0 [4] /tmp/a.py:5 rank 2
57-57:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [5] /tmp/a.py:25 rank 0
72-72:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [5] /tmp/a.py:25 rank 1
87-87:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [5] /tmp/a.py:25 rank 3
109-215:ChildFailedError: ============================================================ [6] first of 4: rank 2 exit 1 <relayed> 198-198:ValueError: Caught ValueError in DataLoader worker process 0. [6] /tmp/a.py:15 rank 2 <relayed> 211-212:ValueError: bad sample 0 [4] /tmp/a.py:5 rank 2
`},
		"torchrun-tee-grp.log": {plain: 13, want: `38-38:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [5] /tmp/a.py:25 rank 1
53-53:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [5] /tmp/a.py:25 rank 3
68-68:RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] C [5] /tmp/a.py:25 rank 2
17-17:ExceptionGroup: several (2 sub-exceptions) [3] /tmp/a.py:19 rank 0 <relayed> 19-20:ValueError: a [0] rank 0
90-177:ChildFailedError: ============================================================ [6] first of 4: rank 0 exit 1 <relayed> 169-169:ExceptionGroup: several (2 sub-exceptions) [2] /tmp/a.py:19 rank 0 <relayed> 171-172:ValueError: a [0] rank 0
`},
		"torchrun-tee-segv.log": {plain: 13, want: `9-9:Fatal Python error: Segmentation fault [4] /tmp/a.py:17 rank 3
38-73:ChildFailedError: ===================================================== [6] first of 4: rank 3 exit -11
`},
		"torchrun-red-dl.log": {plain: 9, want: `26-132:ChildFailedError: ============================================================ [6] first of 4: rank 2 exit 1 <relayed> 115-115:ValueError: Caught ValueError in DataLoader worker process 0. [6] /tmp/a.py:15 rank 2 <relayed> 128-129:ValueError: bad sample 0 [4] /tmp/a.py:5 rank 2
`},
		"mpirun-tagged.log": {plain: 15, want: `7-8:RuntimeError: rank two [1] /tmp/b.py:8 rank 2
`},
		"torchscript.log": {plain: 0, want: `4-4:RuntimeError: The following operation failed in the TorchScript interprete [1] /tmp/b.py:18 <relayed> 10-10:RuntimeError: shape '[3, 5]' is invalid for input of size 4 [1] /tmp/b.py:17
`},
		"dynamo-suppressed.log": {plain: 7, want: `70-72:BackendCompilerFailed: backend='bad' raised: [24] /tmp/b.py:22 level warning
143-145:BackendCompilerFailed: backend='bad' raised: [24] /tmp/b.py:22 level warning
`},
		"illegal-access.log": {plain: 1, want: `8-12:AcceleratorError: CUDA error: an illegal memory access was encountered [2] /workspace/train/main.py:113
17-17:CUDADriverError: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was enc [2]
22-22:CUDADriverError: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was enc [2] swallowed
`},
	} {
		text, err := os.ReadFile(filepath.Join("../../testdata/tracebacks", name))
		if err != nil {
			t.Fatal(err)
		}
		exceptions, lines := read(t, name, string(text))
		if diff := cmp.Diff(test.want, brief(exceptions)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(lines) != test.plain {
			t.Errorf("%s: %d other lines, want %d", name, len(lines), test.plain)
		}
	}
}

// TestAssemblerIsBounded feeds it more of everything than it may hold back.
func TestAssemblerIsBounded(t *testing.T) {
	const n = 5000
	many := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, log := range map[string]string{
		"frames":   "Traceback (most recent call last):\n" + many("  File \"a.py\", line %d, in f\n") + "KeyError: 1\n",
		"headless": many("  File \"a.py\", line %d, in f\n"),
		"message":  "KeyError: 1\n" + many("  line %d\n"),
		"chain":    many("KeyError: %d\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n"),
		"relayed":  many("KeyError: %d:\nOriginal Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n"),
		"group":    "+ Exception Group Traceback (most recent call last):\n| ExceptionGroup: x\n+-+--- 1 ---\n" + many("  | KeyError: %d\n  +--- 2 ---\n"),
		"stalled":  many("Traceback (most recent call last):\n  File \"a.py\", line %d, in f\n"),
	} {
		exceptions, _ := read(t, name, log)
		chain := 0
		for _, e := range exceptions {
			if len(e.Frames) > maxFrames || len(e.Lines) > 2*maxMessageLines || len(e.Message) > 3*maxMessageBytes || len(e.Within) > maxGroupMembers {
				t.Errorf("%s: %d frames, %d lines, %d bytes, %d members", name, len(e.Frames), len(e.Lines), len(e.Message), len(e.Within))
			}
			for ; e != nil; e = e.Earlier {
				chain++
			}
		}
		if chain > 2*maxChain {
			t.Errorf("%s: %d exceptions in chains", name, chain)
		}
	}
	a := NewAssembler(func(*Exception, logline.Line) {}, nil)
	for i := range 2000 {
		a.Feed(logline.Line{Number: i + 1, Writer: fmt.Sprint(i), Text: logline.TracebackHeader + ":"})
	}
	if len(a.open) != 1024 || len(a.order) != 1024 {
		t.Errorf("%d writers", len(a.open))
	}
}

func FuzzAssembler(f *testing.F) {
	f.Add("Traceback (most recent call last):\n  File \"a\", line 1, in f\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n")
	f.Add("  + Exception Group Traceback (most recent call last):\n  | E: x\n  +-+---- 1 ----\n    | TypeError: x\n")
	f.Add("[rank0]: X: ['Traceback (most recent call last):\\n', 'KeyError']\nRuntimeError: a:\nOriginal Traceback (most recent call last):\n  File \"\"")
	f.Add("~ Traceback (most recent call last):\n~   File \"a\", line 1, in f\n~\n~ KeyError: 1\n")
	f.Add("╭ Traceback (most recent call last) ╮\n│ a.py:1 in f │\n╰\nE: x\nKeyError   Traceback (most recent call last)\n")
	f.Fuzz(func(t *testing.T, log string) {
		lines, taken := 0, 0
		a := NewAssembler(func(e *Exception, _ logline.Line) {
			if e == nil {
				taken++
			}
			for n := 0; e != nil; e, n = e.Earlier, n+1 {
				if n > len(log) {
					t.Fatal("the chain has no end")
				}
				if len(e.Frames) > maxFrames {
					t.Fatalf("%d frames", len(e.Frames))
				}
			}
		}, nil)
		if _, err := loglinetest.ReadLines(strings.NewReader(log), "f", func(l logline.Line) error { lines++; a.Feed(l); return nil }); err != nil {
			t.Fatal(err)
		}
		a.Close()
		if taken > lines || len(a.open)+len(a.order) > 0 {
			t.Fatalf("%d of %d lines, %d left open", taken, lines, len(a.open))
		}
	})
}

// vocabulary are the lines that mean something to the assembler.
var vocabulary = []string{
	"", " ", "text", "step 1: loss 2", "Traceback (most recent call last):", "  Traceback (most recent call last):", "~1 Traceback (most recent call last):",
	"~2   File \"a.py\", line 1, in f", "~3", "~4 KeyError: 1", "  File \"a.py\", line 1, in f", "    File \"a.py\", line 1, in f", "    code()", "    ^^^^",
	"  [Previous line repeated 9 more times]", "KeyError: 'x'", "KeyError", "  ValueError: x", "x.y.ZError:", "RayTaskError(KeyError): ray::f()", "RuntimeErrorRuntimeError: : x",
	"The above exception was the direct cause of the following exception:", "During handling of the above exception, another exception occurred:",
	"Original Traceback (most recent call last):", "-- Process 1 terminated with the following error:", `"""`, "Exception ignored in: x", "Fatal Python error: Aborted",
	"Current thread 0x1 (most recent call first):", "Thread 0x2 (most recent call first):", "  File \"a.py\", line 1 in f", "terminate called after throwing an instance of 'A'", "  what():  x",
	"Exception raised from f at x.cpp:1 (most recent call first):", "frame #0: f + 0x1", "====================", "--------------------", "  time      : x", "  rank      : 1 (local_rank: 1)",
	"  traceback : Traceback (most recent call last):", "Root Cause (first observed failure):", "[0]:", "  + Exception Group Traceback (most recent call last):", "  | ExceptionGroup: x (1 sub-exception)",
	"  +-+---------------- 1 ----------------", "    | TypeError: x", "    +---------------- 2 ----------------", "    +------------------------------------", "╭──── Traceback (most recent call last) ────╮",
	"│ /w/a.py:1 in f │", "│ ❱ 1 │ code │", "╰────╯", "KeyError                              Traceback (most recent call last)", "Cell In[1], line 2", "----> 2 f()", "E       KeyError: x", "E       more",
	"['Traceback (most recent call last):\\n', '  File \"a.py\", line 1, in f\\n', 'KeyError: 1\\n']", "W1120 14:41:01.988000 2175 a.py:1] Traceback (most recent call last):",
	"W1120 14:41:01.988000 2175 a.py:1]   File \"a.py\", line 1, in f", "W1120 14:41:01.988000 2175 a.py:1] KeyError: 1", "[rank1]: Traceback (most recent call last):", "[rank1]:   File \"a.py\", line 1, in f", "[rank1]: KeyError: 1", "[rank1]: ",
	"  File \"a.py\", line 3", "SyntaxError: x", "{'loss': 1}", " 10%|#  | 1/2", "Killed",
}

// FuzzAssemblerLines puts meaningful lines in any order.
func FuzzAssemblerLines(f *testing.F) {
	f.Add([]byte{4, 10, 12, 15, 0, 21, 0, 4, 10, 16})
	f.Add([]byte{42, 43, 44, 4, 10, 45, 46, 45, 47, 2})
	f.Add([]byte{61, 4, 62, 10, 63, 15, 64, 65})
	f.Fuzz(func(t *testing.T, choice []byte) {
		var log strings.Builder
		for _, c := range choice {
			log.WriteString(vocabulary[int(c)%len(vocabulary)] + "\n")
		}
		shown := map[int]bool{}
		a := NewAssembler(func(e *Exception, l logline.Line) {
			if e == nil {
				if l.Number < 1 || shown[l.Number] {
					t.Fatalf("line %d %q is handed on twice:\n%s", l.Number, l.Text, log.String())
				}
				shown[l.Number] = true
			}
			for n := 0; e != nil; e, n = e.Earlier, n+1 {
				if n > 2*len(choice)+2 {
					t.Fatalf("the chain has no end:\n%s", log.String())
				}
				if e.Type == "" && len(e.Frames) == 0 || e.Line.Number < 1 || e.Line.Number > len(choice) || len(e.Lines) > 0 && e.Last().Number < e.Line.Number {
					t.Fatalf("%+v:\n%s", e, log.String())
				}
			}
		}, nil)
		if _, err := loglinetest.ReadLines(strings.NewReader(log.String()), "f", func(l logline.Line) error { a.Feed(l); return nil }); err != nil {
			t.Fatal(err)
		}
		a.Close()
		if len(a.open)+len(a.order) > 0 {
			t.Fatalf("%d left open", len(a.open))
		}
	})
}
