package matcher_test

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// What the kernel said while a job ran is the answer where the log says nothing, and a note where it does: a failure that the log states is
// no consequence of it.
func TestMachineMessages(t *testing.T) {
	const (
		kernel = "2026-03-01T20:31:07.000100+00:00 oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=t,mems_allowed=0,oom_memcg=/t,task_memcg=/t,task=python3,pid=1475,uid=0\n" +
			"2026-03-01T20:31:07.000200+00:00 Memory cgroup out of memory: Killed process 1475 (python3) total-vm:1071752kB, anon-rss:1054720kB, file-rss:7340kB, shmem-rss:0kB, UID:0 pgtables:2140kB oom_score_adj:0\n"
		broken = "Traceback (most recent call last):\n  File \"/job/train.py\", line 4, in <module>\n    print(d[\"weights\"])\nKeyError: 'weights'\n"
		cut    = "Traceback (most recent call last):\n  File \"/job/train.py\", line 4, in <module>\n    queue.put(batch)\nConnectionResetError: [Errno 104] Connection reset by peer\n"
	)
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	engine := matcher.New(base)
	for name, test := range map[string]struct{ log, id, source string }{
		"the log states a failure of its own":   {broken, "python-key-error", "train.log"},
		"the log states what follows from it":   {cut, "host-oom-kernel", "kernel log, 20:31:07"},
		"the log says nothing":                  {"step 1 loss 2.3\n", "host-oom-kernel", "kernel log, 20:31:07"},
		"the log states whose death it was":     {"RuntimeError: DataLoader worker (pid 1475) is killed by signal: Killed.\n", "dataloader-worker-killed", "train.log"},
		"the log states something that follows": {"KeyError: 'a'\nRuntimeError: NCCL communicator was aborted on rank 0.\n", "python-key-error", "train.log"},
	} {
		t.Run(name, func(t *testing.T) {
			job := engine.Begin()
			for _, err := range []error{job.Read(t.Context(), "train.log", strings.NewReader(test.log)), job.ReadMachine(t.Context(), "kernel log", strings.NewReader(kernel))} {
				if err != nil {
					t.Fatal(err)
				}
			}
			answer := job.Report()
			root := answer.Diagnoses[0]
			if root.ID != test.id || root.Evidence[0].Source != test.source {
				t.Errorf("%s, shown by %+v", root.ID, root.Evidence[0])
			}
			if ofKernel := strings.HasPrefix(test.source, "kernel"); ofKernel != (root.Evidence[0].Line == 0) {
				t.Errorf("line %d", root.Evidence[0].Line)
			}
			told := len(answer.Notes) == 1 && strings.HasPrefix(answer.Notes[0], "While the job ran: ") && strings.Contains(answer.Notes[0], "kernel log, 20:31:07")
			if strings.HasPrefix(test.source, "train") != told {
				t.Errorf("notes: %q", answer.Notes)
			}
			for _, c := range root.Consequences {
				if strings.Contains(c.Title, "kernel") {
					t.Errorf("a consequence: %+v", c)
				}
			}
		})
	}
}
