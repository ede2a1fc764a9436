package matcher_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// BenchmarkManyRanks reads a job of 10,000 ranks, each with a log of its own that ends in a failure, and tells how much memory it keeps.
func BenchmarkManyRanks(b *testing.B) {
	base, err := rules.Open()
	if err != nil {
		b.Fatal(err)
	}
	engine := matcher.New(base)
	for b.Loop() {
		reading := engine.Begin()
		for rank := range 10000 {
			if err := reading.Read(context.Background(), fmt.Sprintf("rank_%d.log", rank), rankLog(rank)); err != nil {
				b.Fatal(err)
			}
		}
		answer := reading.Report()
		if len(answer.Diagnoses) == 0 || answer.Diagnoses[0].ID != "cuda-oom" || len(answer.Diagnoses[0].Ranks) != 10000 {
			b.Fatal("the failure of 10,000 ranks is not found")
		}
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		b.ReportMetric(float64(memory.HeapInuse)/(1<<20), "MiB-kept")
		runtime.KeepAlive(reading)
	}
}

func rankLog(rank int) io.Reader {
	return strings.NewReader(fmt.Sprintf(`rank %[1]d starts
[rank%[1]d]: step 1 loss 2.31
[rank%[1]d]: Traceback (most recent call last):
[rank%[1]d]:   File "/workspace/train.py", line 88, in main
[rank%[1]d]:     loss.backward()
[rank%[1]d]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %[2]d.00 GiB. GPU %[3]d has a total capacity of 79.15 GiB of which %[4]d.5 GiB is free. Process %[5]d has 78.%[2]d GiB memory in use.
`, rank, 2+rank%90, rank%8, rank%9, 1000+rank*7))
}
