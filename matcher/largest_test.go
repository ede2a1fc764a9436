package matcher_test

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// TestLargestHolder: of several processes in a message, the one that holds most is named, wherever it stands.
func TestLargestHolder(t *testing.T) {
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	const log = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 139.80 GiB of which 8.11 GiB is free. " +
		"HOLDERS Including non-PyTorch memory, this process has 3.50 GiB memory in use. Of the allocated memory 3.00 GiB is allocated by PyTorch, and 41.19 MiB is reserved by PyTorch but unallocated.\n"
	for _, holders := range []string{
		"Process 11 has 902.00 MiB memory in use. Process 12 has 118.20 GiB memory in use. Process 13 has 9.08 GiB memory in use.",
		"Process 12 has 118.20 GiB memory in use. Process 13 has 9.08 GiB memory in use. Process 11 has 902.00 MiB memory in use.",
		"Process 13 has 9.08 GiB memory in use. Process 11 has 902.00 MiB memory in use. Process 12 has 118.20 GiB memory in use.",
	} {
		job := engine.Begin()
		if err := job.Read(t.Context(), "train.log", strings.NewReader(strings.Replace(log, "HOLDERS", holders, 1))); err != nil {
			t.Fatal(err)
		}
		root := job.Report().Diagnoses[0]
		if root.ID != "cuda-oom-other-process" || !strings.Contains(root.Cause, "Process 12: 118.20 GiB") {
			t.Errorf("%s: %s", root.ID, root.Cause)
		}
	}
}
