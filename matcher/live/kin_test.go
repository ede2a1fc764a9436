package live

import (
	"fmt"
	"strings"
	"testing"
)

// process writes what /proc says of a process.
func (m machine) process(pid, parent int, cgroup string) {
	m.write(fmt.Sprintf("proc/%d/stat", pid), fmt.Sprintf("%d (a (b) c) S %d %d 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 %d 0 0", pid, parent, pid, 100+pid))
	m.write(fmt.Sprintf("proc/%d/cgroup", pid), "4:memory:"+cgroup+"\n0::/\n")
}

// kernelLines writes kernel messages and gives the machine that reads them.
func (m machine) kernelLines(lines ...string) *Machine {
	m.write("proc/stat", "btime 1700000000\n")
	for i, line := range lines {
		lines[i] = fmt.Sprintf("4,%d,%d000000,-;%s", i, 60+i, line)
	}
	m.write("dev/kmsg", strings.Join(lines, "\x00"))
	return m.read()
}

// killed are the lines of the kernel about a process that was killed at the limit of a cgroup.
func killed(pid int, limit, group string) []string {
	return []string{
		"python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
		"memory: usage 1048576kB, limit 1048576kB, failcnt 18",
		fmt.Sprintf("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=t,mems_allowed=0,oom_memcg=%s,task_memcg=%s,task=python3,pid=%d,uid=0", limit, group, pid),
		fmt.Sprintf("Memory cgroup out of memory: Killed process %d (python3) total-vm:1071752kB, anon-rss:1054720kB, file-rss:7340kB, shmem-rss:0kB, UID:0 pgtables:2140kB oom_score_adj:0", pid),
	}
}

// watched is a job of process 900 in cgroup /job, which started 901, beside process 700 of somebody else.
func watched(host machine) *Job {
	host.process(700, 1, "/others")
	job := watchJob(host.root)
	host.process(900, 1, "/job")
	job.Started(900)
	host.process(901, 900, "/job/workers")
	job.look()
	host.write("proc/901/stat", "") // it has ended
	job.Stop()
	return job
}

// What the kernel says of other people's processes is no message about the job, and a note tells it.
func TestKernelMessagesOfOthers(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		ours  bool
		note  string
	}{
		{"another process", killed(700, "/others", "/others"), false, "the kernel killed python3 (pid 700)"},
		{"a process that nobody saw, in another cgroup", killed(705, "/others", "/others"), false, "(pid 705)"},
		{"a process of the job", killed(900, "/job", "/job"), true, ""},
		{"a process that the job's process started, and that is gone", killed(901, "/elsewhere", "/elsewhere"), true, ""},
		{"a process that nobody saw, in the job's cgroup", killed(905, "/job", "/job/workers"), true, ""},
		{"an Xid of another process", []string{"NVRM: Xid (PCI:0000:00:06): 31, pid=700, name=python3, Ch 00000008, intr 00000000. MMU Fault"}, false, "Xid 31"},
		{"an Xid of the job", []string{"NVRM: Xid (PCI:0000:00:06): 31, pid=900, name=python3, Ch 00000008, intr 00000000. MMU Fault"}, true, ""},
		{"a GPU that the job did not use was lost", []string{"NVRM: Xid (PCI:0000:00:07): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."}, false, "Xid 79"},
		{"a GPU that the job may use was lost", []string{"NVRM: Xid (PCI:0000:00:06): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."}, true, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			host := newMachine(t)
			host.smi("h200-580")
			job := watched(host)
			said := host.kernelLines(test.lines...)
			said.Environment["CUDA_VISIBLE_DEVICES"] = "0"
			own, notes := said.Of(job)
			if got := len(own.Xids)+len(own.OOMKills) > 0; got != test.ours {
				t.Errorf("it is the job's: %v; %+v %+v", got, own.OOMKills, own.Xids)
			}
			if got := own.KernelLog() != ""; got != test.ours {
				t.Errorf("lines that are left: %q", own.KernelLog())
			}
			if got := strings.Join(notes, "\n"); (got == "") != (test.note == "") || !strings.Contains(got, test.note) {
				t.Errorf("notes: %q", got)
			}
		})
	}
}

// A GPU that the job opened is one that it used, and another is not.
func TestGPUsThatTheJobOpened(t *testing.T) {
	host := newMachine(t)
	host.smi("h200-580")
	for minor, bus := range []string{"0000:00:06.0", "0000:00:07.0"} {
		host.write("proc/driver/nvidia/gpus/"+bus+"/information", fmt.Sprintf("Model: \t\t NVIDIA H200\nBus Location: \t %s\nDevice Minor: \t %d\n", bus, minor))
	}
	host.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n")
	host.link("proc/900/fd/5", "/dev/nvidia1")
	job := watched(host)
	const lost = "NVRM: Xid (PCI:0000:00:%s): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
	own, _ := host.kernelLines(fmt.Sprintf(lost, "06"), fmt.Sprintf(lost, "07")).Of(job)
	if len(own.Xids) != 1 || *own.Xids[0].GPU != 1 {
		t.Errorf("%+v", own.Xids)
	}
}

// In a container the kernel's numbers and names are not those of /proc. What the cgroup counted tells then, and else nobody knows.
func TestKernelMessagesInAContainer(t *testing.T) {
	for _, test := range []struct {
		before, after string
		want          any
	}{
		{"oom 0\noom_kill 3\n", "oom 1\noom_kill 4\n", true},
		{"oom 0\noom_kill 3\n", "oom 0\noom_kill 3\n", false},
		{"", "", unknownFact},
	} {
		host := newMachine(t)
		host.link("proc/self/ns/pid", "pid:[4026532222]")
		host.link("proc/self/ns/cgroup", "cgroup:[4026532223]")
		host.write("proc/self/cgroup", "0::/\n")
		if test.before != "" {
			host.write("sys/fs/cgroup/memory.events", test.before)
		}
		job := watchJob(host.root)
		host.process(12, 1, "/")
		job.Started(12)
		if test.after != "" {
			host.write("sys/fs/cgroup/memory.events", test.after)
		}
		job.Stop()
		own, notes := host.kernelLines(killed(48213, "/docker/4f1", "/docker/4f1")...).Of(job)
		expect(t, values(own, base(t)), map[string]any{"host_oom": test.want})
		if (len(notes) == 0) != (test.want == true) {
			t.Errorf("%q: %q", test.after, notes)
		}
	}
}
