package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/xid"
)

// unlisted is the least memory in MiB that is in use without a process being listed for it that is worth telling. The driver itself
// keeps some.
const unlisted = 768

// muchTaken is the least memory of a GPU in MiB, and the least part of it, that others hold when it counts as taken by them.
const (
	muchTaken     = 2 << 10
	muchTakenPart = 0.1
)

// holder is somebody else who holds memory of a GPU.
type holder struct {
	pid  int // 0: nvidia-smi does not list it
	name string
	gpu  int
	mib  float64
}

func (h holder) fact() map[string]any {
	if h.pid == 0 {
		return map[string]any{"pid": nil, "name": "unlisted", "gpu": float64(h.gpu), "gib": gib(h.mib)}
	}
	return map[string]any{"pid": float64(h.pid), "name": h.name, "gpu": float64(h.gpu), "gib": gib(h.mib)}
}

// String is one phrase about the holder.
func (h holder) String() string {
	if h.pid == 0 {
		return fmt.Sprintf("processes that nvidia-smi does not list (of another container or user) hold %.2f GiB of GPU %d", gib(h.mib), h.gpu)
	}
	return fmt.Sprintf("%s (pid %d) holds %.2f GiB of GPU %d", h.name, h.pid, gib(h.mib), h.gpu)
}

// holders are those who hold memory of the GPU beside the job.
func (g GPU) holders() (all []holder) {
	listed := 0.0
	for _, p := range g.Processes {
		mib := known(p.MemoryMiB)
		listed += mib
		if !p.Own && mib > 0 {
			all = append(all, holder{p.PID, cmp.Or(p.Command, p.Name), g.Index, mib})
		}
	}
	if rest := *g.Memory.UsedMiB - listed; rest > unlisted {
		all = append(all, holder{gpu: g.Index, mib: rest})
	}
	return all
}

// otherFacts tells who else holds GPU memory, the largest first.
func (m *Machine) otherFacts(f *factList) {
	if m.Source == fromPrometheus || len(m.GPUs) == 0 {
		return // what the job itself holds cannot be told from the rest
	}
	var all []holder
	most, taken := 0.0, false
	for _, gpu := range m.visible() {
		if gpu.Memory.UsedMiB == nil {
			return
		}
		held := 0.0
		for _, h := range gpu.holders() {
			held += h.mib
			all = append(all, h)
		}
		most = max(most, held)
		taken = taken || held >= min(muchTaken, max(muchTakenPart*known(gpu.Memory.TotalMiB), unlisted))
	}
	slices.SortStableFunc(all, func(a, b holder) int { return cmp.Compare(b.mib, a.mib) })
	others, texts := []any{}, []string{}
	for _, h := range all {
		others, texts = append(others, h.fact()), append(texts, h.String())
	}
	f.add("gpu_others", others, "nvidia-smi")
	f.add("gpu_others_gib", gib(most), "nvidia-smi")
	f.add("gpu_taken_by_others", taken, "nvidia-smi")
	f.addOrNil("gpu_others_text", strings.Join(texts, "; "), "nvidia-smi")
}

// troubleFacts tells of GPUs that should not be computing.
func (m *Machine) troubleFacts(f *factList) {
	if len(m.GPUs) == 0 {
		return
	}
	var troubles []string
	for _, gpu := range m.GPUs {
		for _, trouble := range gpu.faults() {
			troubles = append(troubles, gpu.label()+": "+trouble)
		}
	}
	if len(troubles) == 0 {
		f.add("gpu_trouble", nil, "nvidia-smi -q")
		return
	}
	f.add("gpu_trouble", strings.Join(troubles, "; "), "nvidia-smi -q")
}

// Trouble lists what is wrong with the GPU or holds it back, nothing for a healthy one.
func (g GPU) Trouble() []string {
	t := g.faults()
	for _, slow := range g.Slowdowns {
		if strings.HasPrefix(slow, "hw") {
			t = append(t, "clocks are held down: "+slow)
		}
	}
	return t
}

// faults lists what can make jobs fail on the GPU.
func (g GPU) faults() []string {
	var t []string
	note := func(wrong bool, text string) {
		if wrong {
			t = append(t, text)
		}
	}
	note(g.Recovery != "" && g.Recovery != "None", "the driver asks for: "+g.Recovery)
	note(g.Remapped.Failure, "a bad memory row could not be replaced: the GPU has to be replaced")
	note(g.Remapped.Pending, "bad memory rows wait for a reset of the GPU to be replaced")
	note(g.Errors.RetirementPending, "bad memory pages wait for a reboot to be retired")
	note(known(g.Errors.VolatileUncorrected) > 0, fmt.Sprintf("%.0f uncorrected memory errors since the driver was loaded", known(g.Errors.VolatileUncorrected)))
	note(g.Errors.SRAMThreshold, "more uncorrectable SRAM errors than allowed: the GPU has to be replaced")
	note(g.NVLink != nil && g.NVLink.Active > 0 && g.NVLink.Inactive > 0, fmt.Sprintf("%d NVLinks are down", inactive(g.NVLink)))
	return t
}

func inactive(n *NVLink) int {
	if n == nil {
		return 0
	}
	return n.Inactive
}

// kernelFacts tells of Xids and OOM kills, if the kernel's messages could be read.
func (m *Machine) kernelFacts(f *factList) {
	if m.failed(sourceKernel) {
		return
	}
	if m.Source == fromPrometheus && len(m.Xids) == 0 {
		return // an exporter that does not export Xids says nothing of them
	}
	list, text := []any{}, []string{}
	blame := ""
	for _, x := range m.Xids {
		entry := map[string]any{"code": float64(x.Code), "name": x.Name, "blame": x.Blame, "action": x.Action, "bus": x.Bus, "gpu": nil}
		if x.GPU != nil {
			entry["gpu"] = float64(*x.GPU)
		}
		list = append(list, entry)
		if blame == "" || xid.Blame(x.Blame).Graver(xid.Blame(blame)) {
			blame = x.Blame
		}
		if t := x.String(); !slices.Contains(text, t) {
			text = append(text, t)
		}
	}
	where := "kernel log"
	if m.Source == fromPrometheus {
		where = ""
	}
	f.add("xids", list, where)
	f.addOrNil("xid_blame", blame, where)
	f.addOrNil("xid_text", strings.Join(text, "; "), where)
	if m.Source == fromPrometheus || m.oomUnclear && len(m.OOMKills) == 0 {
		return
	}
	list, text = []any{}, nil
	for _, k := range m.OOMKills {
		list = append(list, map[string]any{"process": k.Process, "pid": float64(k.PID), "rss_gib": gib(k.RSSMiB), "cgroup": k.Cgroup, "limit_gib": gib(k.LimitMiB)})
		text = append(text, k.String())
	}
	if n := len(m.OOMKills); n > 0 {
		where = KernelSource(m.OOMKills[n-1].Time)
	}
	f.add("oom_kills", list, where)
	f.addOrNil("oom_text", strings.Join(text, "; "), where)
	f.add("host_oom", len(m.OOMKills) > 0, where)
}

func (f *factList) addOrNil(name, text, where string) {
	if text == "" {
		f.add(name, nil, where)
		return
	}
	f.add(name, clip(text, 2000), where)
}

// String is one phrase about the event: what, where, and what to do.
func (x Xid) String() string {
	return xid.Meaning{Name: x.Name, Severity: x.Severity, Action: x.Action}.Tell(x.Code, x.place())
}

func (x Xid) place() string {
	if x.Host != "" {
		here := x
		here.Host = ""
		return x.Host + ", " + here.place()
	}
	switch {
	case x.GPU != nil && x.Bus != "":
		return fmt.Sprintf("GPU %d (%s)", *x.GPU, x.Bus)
	case x.GPU != nil:
		return fmt.Sprintf("GPU %d", *x.GPU)
	case x.Bus == "":
		return "a GPU"
	}
	return x.Bus
}

// String says who was killed, and whose memory ran out.
func (k OOMKill) String() string {
	text := fmt.Sprintf("%s (pid %d), which held %.1f GiB", k.Process, k.PID, gib(k.RSSMiB))
	if k.Cgroup == "" {
		return text + ", because the whole machine ran out of memory"
	}
	if k.LimitMiB > 0 {
		return text + fmt.Sprintf(", because its cgroup %s reached its limit of %.1f GiB", k.Cgroup, gib(k.LimitMiB))
	}
	return text + fmt.Sprintf(", because its cgroup %s reached its limit", k.Cgroup)
}
