package reading_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/matchertest"
)

// crashed is the traceback of a rank: rank 700 ran out of memory, the others lost their connection.
func crashed(rank int) []string {
	last := fmt.Sprintf("torch.distributed.DistBackendError: NCCL communicator of rank %d was aborted", rank)
	if rank == 700 {
		last = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB."
	}
	return []string{"Traceback (most recent call last):", `  File "/opt/train/main.py", line 3, in <module>`, "    main()", last}
}

// TestManyRanks: a thousand ranks whose tracebacks are interleaved line by line, and ten thousand files of one rank each, give one
// answer each.
func TestManyRanks(t *testing.T) {
	engine := matchertest.Story(t)
	const ranks = 1024
	var mixed strings.Builder
	mixed.WriteString(prefixed(0, step))
	for _, line := range crashed(700) {
		fmt.Fprintf(&mixed, "[rank700]: %s\n", line)
	}
	for i := range 4 {
		for rank := range ranks {
			if rank != 700 {
				fmt.Fprintf(&mixed, "[rank%d]: %s\n", rank, crashed(rank)[i])
			}
		}
	}
	reading := engine.Begin()
	if err := reading.Read(context.Background(), "all.log", strings.NewReader(mixed.String())); err != nil {
		t.Fatal(err)
	}
	report := reading.Report()
	if d := report.Diagnoses; len(d) == 0 || d[0].ID != "oom" || *d[0].Rank != 700 || len(d[0].Consequences) != 1 || len(d[0].Consequences[0].Ranks) != ranks-1 {
		t.Errorf("interleaved: %+v", d)
	}

	const files = 10_000
	reading = engine.Begin()
	for rank := range files {
		log := step + strings.Join(crashed(rank%1000), "\n") + "\n"
		if rank != 700 && rank%1000 == 700 {
			log = step
		}
		if err := reading.Read(context.Background(), fmt.Sprintf("logs/rank_%d.log", rank), strings.NewReader(log)); err != nil {
			t.Fatal(err)
		}
	}
	report = reading.Report()
	if d := report.Diagnoses; len(d) == 0 || d[0].ID != "oom" || *d[0].Rank != 700 || len(d[0].Consequences) != 1 || len(d[0].Consequences[0].Ranks) < files-20 {
		t.Errorf("files: %d diagnoses", len(d))
	}
}
