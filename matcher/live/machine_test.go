package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-triage/triage/rules"
)

// machine is a made-up file system and PATH for tests.
type machine struct {
	t    *testing.T
	root string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	return machine{t, t.TempDir()}
}

// write puts a file below the root.
func (m machine) write(path, content string) {
	m.t.Helper()
	full := filepath.Join(m.root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// link puts a symbolic link below the root, which leads to where it says.
func (m machine) link(path, target string) {
	m.t.Helper()
	full := filepath.Join(m.root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Symlink(target, full); err != nil {
		m.t.Fatal(err)
	}
}

// tool puts a shell script of that name into PATH.
func (m machine) tool(name, script string) {
	m.t.Helper()
	// A process that is started meanwhile would hold the file open for writing, and then it cannot be run.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	m.write("bin/"+name, "#!/bin/sh\n"+script)
	if err := os.Chmod(filepath.Join(m.root, "bin", name), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// smi makes an nvidia-smi that prints the fixtures of a folder of testdata/live.
func (m machine) smi(folder string) {
	m.t.Helper()
	path, err := filepath.Abs(filepath.Join("../../testdata/live", folder))
	if err != nil {
		m.t.Fatal(err)
	}
	m.tool("nvidia-smi", fmt.Sprintf(`
case "$1" in
--query-gpu=*) [ -f %[1]s/query-gpu.csv ] || { echo 'Field "compute_cap" is not a valid field to query.'; exit 2; }; cat %[1]s/query-gpu.csv ;;
-q) cat %[1]s/q-x.xml ;;
nvlink) cat %[1]s/nvlink-s.txt ;;
esac`, path))
}

func (m machine) read(env ...string) *Machine {
	m.t.Helper()
	return Read(context.Background(), Options{Base: base(m.t), Root: m.root, Timeout: 5 * time.Second,
		Env: append([]string{"PATH=" + filepath.Join(m.root, "bin") + ":/usr/bin:/bin"}, env...)})
}

func base(t testing.TB) *rules.Base {
	t.Helper()
	b, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var loaded = sync.OnceValues(func() (*rules.Base, error) { return rules.Load() }) // no test changes it

// values maps the facts to their values.
func values(m *Machine, b *rules.Base) map[string]any {
	facts := map[string]any{}
	for _, f := range m.Facts(b.Vocabulary) {
		facts[f.Name] = f.Value
	}
	return facts
}

// expect compares the facts named in want; "absent" stands for a fact that is unknown.
func expect(t *testing.T, got, want map[string]any) {
	t.Helper()
	for name, value := range want {
		found, ok := got[name]
		if value == unknownFact && !ok {
			continue
		}
		if diff := cmp.Diff(value, found); diff != "" || !ok {
			t.Errorf("fact %s (known: %v) -want +got:\n%s", name, ok, diff)
		}
	}
}

const unknownFact = "<unknown>"

func failure(m *Machine, source string) string {
	for _, f := range m.Failures {
		if f.Source == source {
			return f.Error
		}
	}
	return ""
}

func TestH200(t *testing.T) {
	host := newMachine(t)
	host.smi("h200-580")
	m := host.read()
	if got := failure(m, "nvidia-smi"); got != "" {
		t.Fatal(got)
	}
	if len(m.GPUs) != 2 {
		t.Fatalf("%d GPUs", len(m.GPUs))
	}
	g := m.GPUs[0]
	number := func(n float64) *float64 { return &n }
	count := func(n int) *int { return &n }
	want := GPU{Name: "NVIDIA H200", UUID: "GPU-00000000-0000-0000-0000-000000000061", Bus: "00000000:00:06.0", Architecture: "Hopper",
		ComputeCapability: "9.0", Memory: Memory{number(143771), number(1581), number(141576), number(616)},
		Processes: []Process{{PID: 981, Type: "C", Name: "/usr/local/bin/python3", MemoryMiB: number(518)},
			{PID: 1016, Type: "C", Name: "/usr/local/bin/python3", MemoryMiB: number(522)},
			{PID: 1213, Type: "C", Name: "/usr/local/bin/python3", MemoryMiB: number(520)}},
		MIG: "Disabled", ECC: "Enabled", Recovery: "None", State: "P0", ComputeMode: "Default", Fabric: "Completed",
		Errors:   Errors{VolatileCorrected: count(0), VolatileUncorrected: count(0), AggregateCorrected: count(0), AggregateUncorrected: count(0)},
		Remapped: RemappedRows{Correctable: count(0), Uncorrectable: count(0)},
		Clocks:   Clocks{number(1980), number(1980), number(3201), number(3201)}, Temperature: number(28), Power: number(114.39), PowerLimit: number(700),
		Utilization: number(0), PCIe: PCIe{count(5), count(5), count(16), count(16), count(0)}, NVLink: &NVLink{Active: 18, GBps: 26.562}}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	expect(t, values(m, base(t)), map[string]any{"gpu": "NVIDIA H200", "sm": 90.0, "gpu_count": 2.0, "gpu_memory_gib": 140.4,
		"driver": "580.159.04", "driver_cuda": "13.0", "gpu_trouble": nil, "gpu_others_gib": 1.52,
		"gpu_others": []any{
			map[string]any{"pid": 1016.0, "name": "/usr/local/bin/python3", "gpu": 0.0, "gib": 0.51},
			map[string]any{"pid": 1213.0, "name": "/usr/local/bin/python3", "gpu": 0.0, "gib": 0.51},
			map[string]any{"pid": 981.0, "name": "/usr/local/bin/python3", "gpu": 0.0, "gib": 0.51}}}) // the one with most memory first
}

// Only the GPUs that the job may see count, and what names a secret is not told.
func TestEnvironment(t *testing.T) {
	host := newMachine(t)
	host.smi("h200-580")
	tests := []struct {
		env  string
		want map[string]any
	}{
		{"CUDA_VISIBLE_DEVICES=1", map[string]any{"gpu": "NVIDIA H200", "gpu_count": 2.0, "gpu_others_gib": 0.0, "env.CUDA_VISIBLE_DEVICES": "1"}},
		{"CUDA_VISIBLE_DEVICES=0", map[string]any{"gpu_others_gib": 1.52}},
		{"CUDA_VISIBLE_DEVICES=GPU-00000000-0000-0000-0000-000000000084", map[string]any{"gpu_others_gib": 0.0}},
		{"CUDA_VISIBLE_DEVICES=", map[string]any{"gpu": unknownFact, "sm": unknownFact}},
		{"CUDA_VISIBLE_DEVICES=7", map[string]any{"gpu": "NVIDIA H200", "gpu_others_gib": 1.52}}, // not here: no reason to believe it
		{"NCCL_DEBUG=INFO", map[string]any{"env.NCCL_DEBUG": "INFO"}},
		{"TORCH_HUB_TOKEN=abc", map[string]any{"env.TORCH_HUB_TOKEN": unknownFact}},
		{"HOME=/root", map[string]any{"env.HOME": unknownFact}},
	}
	for _, test := range tests {
		t.Run(test.env, func(t *testing.T) { expect(t, values(host.read(test.env), base(t)), test.want) })
	}
}

func TestOtherGPUs(t *testing.T) {
	tests := []struct {
		folder string
		gpu    string
		want   map[string]any
		check  func(GPU) bool
	}{
		{"a100-mig-470", "MIG, throttling, rows to be remapped", map[string]any{"gpu": "NVIDIA A100-SXM4-40GB", "driver": "470.103.01",
			"sm":             unknownFact, // nvidia-smi of driver 470 does not tell
			"gpu_memory_gib": 19.63,       // of a MIG device
			"gpu_trouble": "GPU 0: bad memory rows wait for a reset of the GPU to be replaced; " +
				"GPU 0: 2 uncorrected memory errors since the driver was loaded"},
			func(g GPU) bool {
				return g.MIG == "Enabled" && len(g.MIGDevices) == 2 && g.MIGDevices[0].Multiprocessors == 42 && *g.MIGDevices[0].Memory.UsedMiB == 11412 &&
					g.Processes[0].Instance == "1" && *g.PCIe.Width == 8 && *g.PCIe.WidthMax == 16 && *g.Power == 187.41 && *g.PowerLimit == 400 &&
					*g.Errors.AggregateUncorrected == 5 && slices.Contains(g.Trouble(), "clocks are held down: hw thermal slowdown")
			}},
		{"rtx4090-535", "no ECC, a desktop", map[string]any{"gpu": "NVIDIA GeForce RTX 4090", "gpu_trouble": nil, "gpu_memory_gib": 23.99,
			"gpu_others_text":     "python train.py & more (pid 5120) holds 0.85 GiB of GPU 0; /usr/lib/xorg/Xorg (pid 2210) holds 0.30 GiB of GPU 0",
			"gpu_taken_by_others": false},
			func(g GPU) bool {
				return g.MIG == "" && g.Errors == Errors{} && g.Remapped == RemappedRows{} && len(g.Slowdowns) == 0 && g.NVLink == nil && *g.Power == 24.35
			}},
		{"b200-570", "memory beyond repair, processes of another container", map[string]any{"gpu": "NVIDIA B200",
			"gpu_trouble": "GPU 0: the driver asks for: Drain and Reset; GPU 0: a bad memory row could not be replaced: the GPU has to be replaced; " +
				"GPU 0: 3 uncorrected memory errors since the driver was loaded; GPU 0: more uncorrectable SRAM errors than allowed: the GPU has to be replaced",
			"gpu_others_text":     "processes that nvidia-smi does not list (of another container or user) hold 117.19 GiB of GPU 0",
			"gpu_taken_by_others": true},
			func(g GPU) bool {
				return *g.Power == 701.9 && *g.PowerLimit == 1000 && len(g.Slowdowns) == 1 && g.Slowdowns[0] == "sw power cap"
			}},
	}
	for _, test := range tests {
		t.Run(test.folder, func(t *testing.T) {
			host := newMachine(t)
			host.smi(test.folder)
			m := host.read()
			if len(m.GPUs) != 1 {
				t.Fatalf("%d GPUs; %v", len(m.GPUs), m.Failures)
			}
			expect(t, values(m, base(t)), test.want)
			if !test.check(m.GPUs[0]) {
				t.Errorf("%s: %+v", test.gpu, m.GPUs[0])
			}
		})
	}
}

// A process is named by its command, and not by its program alone.
func TestHoldersByCommand(t *testing.T) {
	host := newMachine(t)
	host.smi("h200-580")
	host.write("proc/1016/cmdline", "python3\x00train.py\x00--lr\x001e-4\x00")
	text, _ := values(host.read(), base(t))["gpu_others_text"].(string)
	if !strings.HasPrefix(text, "python3 train.py --lr 1e-4 (pid 1016) holds 0.51 GiB of GPU 0; ") {
		t.Errorf("%q", text)
	}
}

// An nvidia-smi that does not answer as it should leaves a clear line, and everything else is still told.
func TestNvidiaSMITrouble(t *testing.T) {
	tests := []struct {
		name, script, want string
		gpus               int
	}{
		{"absent", "", "nvidia-smi is not installed", 1},
		{"hangs", "exec sleep 60", "nvidia-smi gave no answer within 300ms", 1},
		{"hangs in a child", "sleep 60; true", "nvidia-smi gave no answer within 300ms", 1},
		{"mismatch", "echo 'Failed to initialize NVML: Driver/library version mismatch'; echo 'NVML library version: 535.171'; exit 18",
			"nvidia-smi failed (exit status 18): Failed to initialize NVML: Driver/library version mismatch", 1},
		{"no driver", "echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"; exit 9", "NVIDIA-SMI has failed because", 1},
		{"nonsense", "echo hello", "printed no XML", 1},
		{"binary nonsense", "head -c 100000 /dev/zero", "printed no", 1},
		{"cut XML", `case "$1" in -q) echo '<?xml version="1.0" ?><nvidia_smi_log><gpu id="1"><product_name>X' ;; *) echo 'no' ;; esac`, "XML that cannot be read", 1},
		{"only the table", `case "$1" in -q) exit 1 ;; --query*) echo '0, NVIDIA A10, GPU-1, 00000000:01:00.0, 550.1, 8.6, 23028 MiB, 1 MiB, 23027 MiB, 30, [N/A], [N/A]' ;; esac`,
			"only the short form could be read", 1},
		{"endless", "yes '<a>'", "nvidia-smi printed more than 8 MiB", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			host := newMachine(t)
			if test.script != "" {
				host.tool("nvidia-smi", test.script)
			}
			host.write("proc/sys/kernel/osrelease", "6.8.0-generic\n")
			host.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version: gcc\n")
			host.write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA A10\nIRQ:   \t\t 16\nGPU UUID: \t GPU-1\nBus Location: \t 0000:01:00.0\n")
			env := []string{"PATH=" + filepath.Join(host.root, "bin") + ":/usr/bin:/bin"}
			limit := time.Minute
			if strings.HasPrefix(test.name, "hangs") {
				limit = 300 * time.Millisecond
			}
			m := Read(context.Background(), Options{Base: base(t), Root: host.root, Timeout: limit, Env: env})
			if got := failure(m, "nvidia-smi"); !strings.Contains(got, test.want) {
				t.Errorf("failure %q, want %q", got, test.want)
			}
			expect(t, values(m, base(t)), map[string]any{"kernel": "6.8.0-generic", "kernel_module": "535.183.01", "gpu": "NVIDIA A10"})
		})
	}
}

func TestKernelMessages(t *testing.T) {
	host := newMachine(t)
	host.smi("h200-580")
	host.write("proc/stat", "cpu  1 2 3\nbtime 1700000000\n")
	records := []string{
		"6,1,1000000,-;usb 1-1: new device",
		"4,2,60000000,-;NVRM: Xid (PCI:0000:00:06): 31, pid=4242, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS\n SUBSYSTEM=pci",
		"4,3,61000000,-;NVRM: Xid (PCI:0000:00:07): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
		"4,4,61000001,-;NVRM: Xid (PCI:0000:00:07): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
		"6,5,70000000,-;memory: usage 8388608kB, limit 8388608kB, failcnt 301",
		"6,6,70000001,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job,mems_allowed=0,oom_memcg=/slurm/job_17,task_memcg=/slurm/job_17/step_0,task=python3,pid=900,uid=1000",
		"3,7,70000002,-;Memory cgroup out of memory: Killed process 900 (python3) total-vm:20000000kB, anon-rss:8000000kB, file-rss:1024kB, shmem-rss:0kB, UID:1000 pgtables:16000kB oom_score_adj:0",
		"6,8,80000000,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=java,pid=901,uid=0",
		"3,9,80000001,-;Out of memory: Killed process 901 (java) total-vm:1kB, anon-rss:1048576kB, file-rss:0kB, shmem-rss:0kB",
		"garbage without a header",
	}
	host.write("dev/kmsg", strings.Join(records, "\x00"))
	m := host.read()
	at := func(seconds int64) time.Time { return time.Unix(1700000000+seconds, 0) }
	if len(m.Xids) != 3 || len(m.OOMKills) != 2 {
		t.Fatalf("xids %+v, OOM kills %+v; %v", m.Xids, m.OOMKills, m.Failures)
	}
	first := m.Xids[0]
	if first.Code != 31 || !first.Time.Equal(at(60)) || first.PID != 4242 || first.Process != "python3" || first.GPU == nil || *first.GPU != 0 || first.Blame != "application" {
		t.Errorf("first Xid: %+v", first)
	}
	if second := m.Xids[1]; second.PID != 0 || second.Process != "" || *second.GPU != 1 || second.Blame != "hardware" {
		t.Errorf("second Xid: %+v", second)
	}
	b := base(t)
	expect(t, values(m, b), map[string]any{"xid_blame": "hardware",
		"oom_text": "python3 (pid 900), which held 7.6 GiB, because its cgroup /slurm/job_17 reached its limit of 8.0 GiB; " +
			"java (pid 901), which held 1.0 GiB, because the whole machine ran out of memory",
		"oom_kills": []any{
			map[string]any{"process": "python3", "pid": 900.0, "rss_gib": 7.63, "cgroup": "/slurm/job_17", "limit_gib": 8.0},
			map[string]any{"process": "java", "pid": 901.0, "rss_gib": 1.0, "cgroup": "", "limit_gib": 0.0}}})
	early := values(m.Within(at(0), at(60)), b)
	expect(t, early, map[string]any{"xid_blame": "application", "oom_text": nil,
		"xid_text": "Xid 31 (page fault: an address that is not mapped) on GPU 0 (0000:00:06): restart the job"})
}

func TestUnreadableKernelLogLeavesXidsUnknown(t *testing.T) {
	host := newMachine(t)
	host.tool("dmesg", "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1")
	host.tool("journalctl", "exit 1")
	m := host.read()
	if failure(m, sourceKernel) == "" {
		t.Error("no failure is told")
	}
	expect(t, values(m, base(t)), map[string]any{"xids": unknownFact, "xid_blame": unknownFact, "oom_text": unknownFact})
}

func TestKernelMessagesFromTools(t *testing.T) {
	want := time.Date(2024, 8, 30, 11, 43, 9, 123456000, time.UTC)
	tests := []struct{ name, dmesg, journal string }{
		{"dmesg", "echo '2024-08-30T11:43:09,123456+00:00 NVRM: Xid (PCI:0000:0a:00): 48, pid=7, name=python, An uncorrectable double bit error (DBE) has been detected on GPU'", "exit 1"},
		{"journal", "exit 1", "echo '2024-08-30T11:43:09.123456+0000 node7 kernel: NVRM: Xid (PCI:0000:0a:00): 48, pid=7, name=python, DBE'"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			host := newMachine(t)
			host.tool("dmesg", test.dmesg)
			host.tool("journalctl", test.journal)
			m := host.read()
			if len(m.Xids) != 1 || m.Xids[0].Code != 48 || !m.Xids[0].Time.Equal(want) {
				t.Errorf("%+v; %v", m.Xids, m.Failures)
			}
		})
	}
}

// The kernel's own messages of an illegal memory access and of a cgroup that ran out of memory, as an H200 machine printed them.
func TestRealKernelMessages(t *testing.T) {
	records, err := os.ReadFile("../../testdata/live/h200-580/kmsg")
	if err != nil {
		t.Fatal(err)
	}
	host := newMachine(t)
	host.smi("h200-580")
	host.write("proc/stat", "btime 1763661950\n")
	host.write("dev/kmsg", strings.ReplaceAll(string(records), "\n", "\x00"))
	expect(t, values(host.read(), base(t)), map[string]any{"xid_blame": "application", "host_oom": true,
		"xid_text": "Xid 31 (page fault: an address that is not mapped) on GPU 0 (0000:00:06): restart the job",
		"oom_text": "python3 (pid 1475), which held 1.0 GiB, because its cgroup /t reached its limit of 1.0 GiB"})
}
