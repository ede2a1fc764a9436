package traceback

import (
	"fmt"
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
		{name: "as far in as its frames", log: `
  File "a.py", line 3, in f
      g()
  KeyError: 'k'`,
			want: `4:KeyError: "'k'" [a.py:3 f|g()]`, lines: ""},
		{name: "a name in several lines of code", log: `
Traceback (most recent call last):
  File "a.py", line 3, in f
    raise e(
      ValueError: no
ValueError: yes`,
			want: `6:ValueError: "yes" [a.py:3 f|raise e(]`, lines: ""},
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
		{name: "a class with its module under frames alone", log: `
  File "a.py", line 3, in f
    write(table)
pyarrow.lib.ArrowInvalid: no such column`,
			want: `4:pyarrow.lib.ArrowInvalid: "no such column" [a.py:3 f|write(table)]`},
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
		{name: "a lone line that was copied with a blank", log: `

    ValueError: what the text of a function says
 ValueError: no shard
`,
			want:  `4:ValueError: "no shard"`,
			lines: `||    ValueError: what the text of a function says`,
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
			want: `5:KeyError: "1\nan ordinary line" [a.py:1 f|]`, lines: "|somebody else"}, // as if it had none
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
		{name: "fault handler, with another record in between", log: `
Fatal Python error: Segmentation fault

Current thread 0x00007f0f (most recent call first):
  File "/w/b.py", line 4 in inner
[2026-01-02 03:04:05,678] [INFO] [a.py:3:f] goes on
  File "/w/a.py", line 3 in <module>
`,
			want: `2:Fatal Python error: "Segmentation fault" [/w/a.py:3 <module>|] [/w/b.py:4 inner|]`, lines: "|[2026-01-02 03:04:05,678] [INFO] [a.py:3:f] goes on"},
		{name: "an exception made in a function", log: `
Traceback (most recent call last):
  File "a.py", line 1, in f
__main__.main.<locals>.BadError: no
`,
			want: `4:__main__.main.<locals>.BadError: "no" [a.py:1 f|]`},
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
		{name: "IPython, modules that are imported", log: `
ImportError                               Traceback (most recent call last)
Cell In[3], line 2
      1 # a note
----> 2 import lib

File /w/lib.py:7
      6 # a note
----> 7 from .parts import (
      8     one,

ImportError: x`,
			want: `12:ImportError: "x" [Cell In[3]:2 |import lib] [/w/lib.py:7 <module>|from .parts import (]`},
		{name: "notebook, with Colab's links", log: `
RuntimeError                              Traceback (most recent call last)
[<ipython-input-5-0a1b>](https://localhost:8080/#) in <cell line: 1>()
----> 1 f(a)

1 frames
[/w/lib.py](https://localhost:8080/#) in f(a)
      6 def f(a):
----> 7     raise RuntimeError("x")

RuntimeError: x`,
			want: `11:RuntimeError: "x" [<ipython-input-5-0a1b>:1 <cell line: 1>|f(a)] [/w/lib.py:7 f|raise RuntimeError("x")]`},
		{name: "notebook, whose last line lost its type", log: `
RuntimeError                              Traceback (most recent call last)
<ipython-input-5-0a1b> in <module>()
----> 1 f(a)

1 frames
/w/lib.py in f(a)
----> 7     multiply(a, b)

size mismatch, m1: [64 x 784], m2: [100 x 10]
at TH.cpp:136`,
			want: `10:RuntimeError: "size mismatch, m1: [64 x 784], m2: [100 x 10]\nat TH.cpp:136" [<ipython-input-5-0a1b>:1 <module>|f(a)] [/w/lib.py:7 f|multiply(a, b)]`},
		{name: "notebook of Python 2, which names compiled files", log: `
RuntimeError                              Traceback (most recent call last)
<ipython-input-2-0a1b> in <module>()
----> 1 f(a)

/w/lib.pyc in f(a)
      6 def f(a):
----> 7     raise RuntimeError("x")

RuntimeError: x`,
			want: `10:RuntimeError: "x" [<ipython-input-2-0a1b>:1 <module>|f(a)] [/w/lib.py:7 f|raise RuntimeError("x")]`},
		{name: "notebook, whose last line has another type", log: `
RuntimeError                              Traceback (most recent call last)
<ipython-input-5-0a1b> in <module>()
----> 1 f(a)

OutOfMemoryError: no memory`,
			want: `6:OutOfMemoryError: "no memory" [<ipython-input-5-0a1b>:1 <module>|f(a)]`},
		{name: "notebook, with VS Code's links", log: `
RuntimeError                              Traceback (most recent call last)
Cell In[3], [line 2](vscode-notebook-cell:?execution_count=3&line=2)
      [1](vscode-notebook-cell:?execution_count=3&line=1) a = 1
----> [2](vscode-notebook-cell:?execution_count=3&line=2) f(a)

File [d:\my work\lib.py:7](file:///D:/my%20work/lib.py:7), in f(a)
      [6](file:///D:/my%20work/lib.py:6) def f(a):
----> [7](file:///D:/my%20work/lib.py:7)     raise RuntimeError("x")

RuntimeError: x`,
			want: `11:RuntimeError: "x" [Cell In[3]:2 |f(a)] [d:\my work\lib.py:7 f|raise RuntimeError("x")]`},
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
