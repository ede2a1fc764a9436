package traceback

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/matcher/logline"
)

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
