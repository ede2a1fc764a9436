package live

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// Facts says what the machine knows in the words of the vocabulary. Where GPUs differ, or a source failed, nothing is said: the
// fact stays unknown.
func (m *Machine) Facts(vocabulary *fact.Vocabulary) []report.FactValue {
	f := &factList{vocabulary: vocabulary, where: m.Source}
	if m.Source == fromPrometheus {
		f.where = "Prometheus, host " + m.Host
	}
	m.gpuFacts(f)
	m.otherFacts(f)
	m.troubleFacts(f)
	m.kernelFacts(f)
	m.packageFacts(f)
	m.hostFacts(f)
	slices.SortStableFunc(f.facts, func(a, b report.FactValue) int { return strings.Compare(a.Name, b.Name) })
	return f.facts
}

// Known is Facts in the form that a diagnosis takes.
func (m *Machine) Known(vocabulary *fact.Vocabulary) []facts.Fact {
	var known []facts.Fact
	for _, f := range m.Facts(vocabulary) {
		value := condition.Nil
		if f.Value != nil {
			value, _ = vocabulary.FromJSON(f.Name, f.Value) // Facts has dropped what cannot be read
		}
		known = append(known, facts.Fact{Name: f.Name, Value: value, Source: facts.FromLive, Where: f.Where})
	}
	return known
}

// factList collects facts, dropping those that the vocabulary cannot read: a tool may print anything.
type factList struct {
	vocabulary *fact.Vocabulary
	where      string
	facts      []report.FactValue
}

func (f *factList) add(name string, value any, where string) {
	if text, ok := value.(string); ok && text == "" {
		return
	}
	if value != nil {
		if _, err := f.vocabulary.FromJSON(name, value); err != nil {
			return
		}
	}
	if where == "" {
		where = f.where
	}
	f.facts = append(f.facts, report.FactValue{Name: name, Value: value, Source: "live", Where: where})
}

func (m *Machine) gpuFacts(f *factList) {
	smi := "nvidia-smi"
	if m.Source == fromPrometheus {
		smi = ""
	}
	f.add("driver", m.Driver, smi)
	f.add("driver_cuda", m.CUDA, smi)
	f.add("kernel_module", m.KernelModule, "/proc/driver/nvidia/version")
	if len(m.GPUs) == 0 {
		return // none, or nobody tells
	}
	f.add("gpu_count", float64(len(m.GPUs)), smi)
	gpus := m.visible()
	f.add("gpu", common(gpus, func(g GPU) string { return g.Name }), smi)
	if sm := common(gpus, GPU.SM); sm != 0 {
		f.add("sm", float64(sm), smi)
	}
	total := common(gpus, GPU.usable)
	if total > 0 {
		f.add("gpu_memory_gib", gib(total), smi)
	}
}

// visible are the GPUs that CUDA_VISIBLE_DEVICES lets the job see, all when it is not set or names what is not here.
func (m *Machine) visible() []GPU {
	chosen, set := m.Environment["CUDA_VISIBLE_DEVICES"]
	if !set {
		return m.GPUs
	}
	var gpus []GPU
	chosen = strings.TrimSpace(chosen)
	if chosen == "" || chosen == "-1" {
		return nil // the job sees none
	}
	for _, name := range strings.Split(chosen, ",") {
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(m.GPUs, func(g GPU) bool {
			return name == fmt.Sprint(g.Index) || len(name) > 6 && strings.HasPrefix(g.UUID, name)
		})
		if at < 0 {
			return m.GPUs
		}
		gpus = append(gpus, m.GPUs[at])
	}
	return gpus
}

// usable is the memory in MiB that one program gets at most: the GPU's, or that of its MIG devices where they are alike; else 0.
func (g GPU) usable() float64 {
	if g.MIG != "Enabled" {
		return known(g.Memory.TotalMiB)
	}
	for _, device := range g.MIGDevices {
		if known(device.Memory.TotalMiB) != known(g.MIGDevices[0].Memory.TotalMiB) {
			return 0
		}
	}
	if len(g.MIGDevices) == 0 {
		return 0
	}
	return known(g.MIGDevices[0].Memory.TotalMiB)
}

// common is what all have in common, the zero value when they differ.
func common[T comparable](gpus []GPU, of func(GPU) T) T {
	var zero T
	for i, gpu := range gpus {
		if i > 0 && of(gpu) != of(gpus[0]) {
			return zero
		}
	}
	if len(gpus) == 0 {
		return zero
	}
	return of(gpus[0])
}

// packageFacts tells the versions of what is installed, and what is known not to be.
func (m *Machine) packageFacts(f *factList) {
	m.libraryFacts(f)
	if m.Python == nil || len(m.Python.Folders) == 0 || m.failed(sourcePython) {
		return
	}
	f.add("python", m.Python.Version, m.Python.Interpreter)
	sm := common(m.visible(), GPU.SM)
	for name, value := range m.Installed {
		f.add(name, jsonValue(value), m.Python.Interpreter)
		if archs, ok := value.([]string); ok && sm != 0 {
			f.add(strings.TrimSuffix(name, "_archs")+"_fits_gpu", fits(archs, sm), m.Python.Interpreter)
		}
	}
	found := map[string]bool{}
	for name := range m.Installed {
		found[name] = true
	}
	for _, p := range m.Python.Packages {
		fact, ok := f.vocabulary.Package(p.Name)
		if !ok || p.Hidden || found[fact] || f.has(fact) {
			continue
		}
		found[fact] = true
		f.add(fact, p.Version, p.Folder)
	}
	for fact := range f.vocabulary.InstalledPackages() {
		if !found[fact] {
			f.add(fact, nil, strings.Join(m.Python.Folders, ", "))
		}
	}
}

// fits tells whether code for the architectures runs on a GPU: machine code on the same generation from its own number upwards, PTX
// on everything newer.
func fits(archs []string, sm int) bool {
	return slices.ContainsFunc(archs, func(arch string) bool {
		kind, digits, _ := strings.Cut(arch, "_")
		plain := strings.TrimRight(digits, "af") // code with features of one GPU (a) or of its family (f)
		built, err := strconv.Atoi(plain)
		if plain != digits {
			return err == nil && (built == sm || strings.HasSuffix(digits, "f") && built <= sm && built/10 == sm/10)
		}
		return err == nil && built <= sm && (kind == "compute" || built/10 == sm/10)
	})
}

func (f *factList) has(name string) bool {
	return slices.ContainsFunc(f.facts, func(v report.FactValue) bool { return v.Name == name })
}

// libraryFacts tells which of several copies of a library a job would load: the one in memory, else LD_LIBRARY_PATH's, if it has the same
// name as the one that came with the Python packages, else that, else the system's. A package that says where its own libraries are
// finds those before LD_LIBRARY_PATH's.
func (m *Machine) libraryFacts(f *factList) {
	copies := map[string][]any{}
	libraries := slices.Clone(m.Libraries)
	slices.SortStableFunc(libraries, func(a, b Library) int { return m.turn(a) - m.turn(b) })
	for _, l := range libraries {
		if l.Version == "" {
			continue
		}
		if !f.has(l.Fact) {
			f.add(l.Fact, l.Version, l.Path)
		}
		if !slices.Contains(copies[l.Fact], any(l.Version)) {
			copies[l.Fact] = append(copies[l.Fact], l.Version)
		}
	}
	for fact, versions := range copies {
		f.add(fact+"_copies", versions, "files that the loader may find")
	}
}

// turn is when the loader comes to a copy of a library.
func (m *Machine) turn(l Library) int {
	switch {
	case l.From == fromLoaded:
		return 0
	case l.From == fromPackage && m.ownPath[l.Fact]:
		return 1
	case l.From == fromPath && m.replaces(l):
		return 2
	case l.From == fromPackage:
		return 3
	case l.From == fromPath:
		return 4
	}
	return 5
}

// replaces tells whether a copy of LD_LIBRARY_PATH is taken instead of the package's: both have the same major version.
func (m *Machine) replaces(l Library) bool {
	at := slices.IndexFunc(m.Libraries, func(p Library) bool { return p.From == fromPackage && p.Fact == l.Fact })
	return at < 0 || major(m.Libraries[at].File) == major(l.File)
}

// major is the first number after .so., by which programs ask for a library.
func major(file string) string {
	_, version, _ := strings.Cut(file, ".so.")
	number, _, _ := strings.Cut(version, ".")
	return number
}

func (m *Machine) hostFacts(f *factList) {
	f.add("nvcc", m.Compiler, m.CompilerPath)
	f.add("os", m.OS, "/etc/os-release")
	f.add("kernel", m.KernelVersion, "/proc/sys/kernel/osrelease")
	f.add("glibc", m.Glibc, "libc.so.6")
	if m.Limits.ShmMiB > 0 {
		f.add("shm_gib", gib(m.Limits.ShmMiB), "/dev/shm")
	}
	if m.Limits.MemoryLimitMiB != nil {
		f.add("memory_limit_gib", gib(*m.Limits.MemoryLimitMiB), m.Limits.MemoryLimitFrom)
	}
	for name, value := range m.Environment {
		if strings.Contains(name, "_") {
			f.add("env."+name, value, "environment")
		}
	}
	for _, name := range m.Unset {
		f.add("env."+name, nil, "environment")
	}
}

// gib turns MiB into GiB with two decimals.
func gib(mib float64) float64 { return math.Round(mib/1024*100) / 100 }

// known is what a pointer holds, 0 for none.
func known[T int | float64](value *T) float64 {
	if value == nil {
		return 0
	}
	return float64(*value)
}

// jsonValue is value as encoding/json would decode it.
func jsonValue(value any) any {
	if list, ok := value.([]string); ok {
		values := make([]any, len(list))
		for i, v := range list {
			values[i] = v
		}
		return values
	}
	return value
}
