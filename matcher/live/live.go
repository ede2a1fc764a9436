// Package live tells the facts of this moment: what the machine's GPUs, driver, kernel, Python packages and environment say, or
// what Prometheus says of other machines. It is the only package of the matcher that asks another machine, and beside supervise the
// only one that starts processes: the machine's own tools.
//
// Every source has its own time limit and fails on its own: what one cannot tell, the others still do.
package live

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/fact"
)

// Options say where to look. The zero value, with a Base, looks at this process's own machine and environment.
type Options struct {
	// Base says which packages, files and libraries state which facts, and what Xids mean.
	Base *rules.Base
	// Env is the job's environment, as os.Environ gives it; nil means this process's.
	Env []string
	// Command is the command that runs the job, if known; its interpreter tells the Python environment.
	Command []string
	// Job is the processes of that command, if it was watched.
	Job *Job
	// Python names an interpreter, a virtual or conda environment, or a folder of packages.
	Python string
	// Timeout bounds each tool that is asked; zero means 10 seconds. A GPU that hangs makes nvidia-smi hang.
	Timeout time.Duration
	// Root is prepended to the absolute paths that are read, for tests and for machines mounted elsewhere; "" means /.
	Root string
}

// Machine is what a machine says at one moment.
type Machine struct {
	Taken         time.Time         `json:"taken"`
	Source        string            `json:"source"` // "this machine" or "prometheus"
	Host          string            `json:"host,omitempty"`
	Boot          time.Time         `json:"boot,omitzero"`
	OS            string            `json:"os,omitempty"`
	KernelVersion string            `json:"kernel_version,omitempty"`
	Glibc         string            `json:"glibc,omitempty"`
	Driver        string            `json:"driver,omitempty"`        // of the libraries
	KernelModule  string            `json:"kernel_module,omitempty"` // of the loaded module: the same, unless an upgrade awaits a reboot
	OpenModule    bool              `json:"open_module,omitempty"`
	CUDA          string            `json:"driver_cuda,omitempty"` // newest CUDA that the driver supports
	Compiler      string            `json:"nvcc,omitempty"`        // nvcc's version, "" when there is none
	CompilerPath  string            `json:"nvcc_path,omitempty"`
	GPUs          []GPU             `json:"gpus"`
	Xids          []Xid             `json:"xids,omitempty"`
	OOMKills      []OOMKill         `json:"oom_kills,omitempty"`
	Kernel        []KernelLine      `json:"kernel,omitempty"`
	Python        *Python           `json:"python,omitempty"`
	Libraries     []Library         `json:"libraries,omitempty"`
	Installed     map[string]any    `json:"installed,omitempty"` // facts that files of the Python environment state
	Environment   map[string]string `json:"environment,omitempty"`
	Unset         []string          `json:"unset,omitempty"` // variables that rules ask about and that the job does not have
	Limits        Limits            `json:"limits"`
	Failures      []Failure         `json:"failures,omitempty"`

	procGPUs   []GPU
	minors     map[string]int  // the N of /dev/nvidiaN by PCI address
	ownPath    map[string]bool // facts about libraries that the package that loads them finds by a path of its own, before all others
	oomUnclear bool            // the kernel killed a process that may have been the job's
}

// The values of Machine.Source.
const (
	fromHere       = "this machine"
	fromPrometheus = "prometheus"
)

// Sources whose failure makes facts unknown rather than absent.
const (
	sourceKernel = "kernel log"
	sourcePython = "python"
)

// Failure is a source that could not tell what it was asked.
type Failure struct {
	Source string `json:"source"`
	Error  string `json:"error"`
}

// system is the machine that is read.
type system struct {
	vocabulary *fact.Vocabulary
	env        []string
	command    []string
	job        *Job
	python     string
	timeout    time.Duration
	root       string
}

// Read asks every source. It never fails as a whole: what went wrong is in Failures. It takes no longer than about twice the
// time limit, or until ctx ends.
func Read(ctx context.Context, options Options) *Machine {
	s := newSystem(options)
	m := &Machine{Taken: time.Now(), Source: fromHere}
	m.Host, _ = os.Hostname()
	m.Environment = s.environment()
	if len(options.Command) > 0 { // else the job may have had another environment than this
		m.Unset = s.unset(options.Base)
	}
	m.fail("system", s.readHost(m))
	s.readAtOnce(ctx, m)
	if len(m.GPUs) == 0 {
		m.GPUs = m.procGPUs
	}
	s.markOwn(m)
	s.addCommands(m)
	m.Xids, m.OOMKills = xids(m.Kernel, m.GPUs, options.Base.Xids), oomKills(m.Kernel)
	m.fail("libraries", s.readLibraries(ctx, m))
	return m
}

// newSystem is the machine that the options say.
func newSystem(options Options) *system {
	s := &system{vocabulary: options.Base.Vocabulary, env: options.Env, command: options.Command, job: options.Job, python: options.Python,
		timeout: cmp.Or(options.Timeout, 10*time.Second), root: cmp.Or(options.Root, "/")}
	if s.env == nil {
		s.env = os.Environ()
	}
	return s
}

// readAtOnce asks the sources that need nothing of each other. Each fills fields of its own.
func (s *system) readAtOnce(ctx context.Context, m *Machine) {
	sources := []struct {
		name string
		read func() error
	}{
		{"nvidia-smi", func() error { return s.readGPUs(ctx, m) }},
		{"driver", func() error { return s.readDriver(m) }},
		{sourceKernel, func() error { return s.readKernel(ctx, m) }},
		{"nvcc", func() error { return s.readCompiler(ctx, m) }},
		{sourcePython, func() error {
			err := s.readPython(m)
			m.Installed = s.readInstalled(m.Python)
			return err
		}},
	}
	failures := make([]error, len(sources))
	var group sync.WaitGroup
	for i, source := range sources {
		group.Go(func() { failures[i] = source.read() })
	}
	group.Wait()
	for i, source := range sources {
		m.fail(source.name, failures[i])
	}
}

// addCommands tells the command lines of the processes that use a GPU. Seen from inside a container their numbers are those of others.
func (s *system) addCommands(m *Machine) {
	if namespace, err := os.Readlink(s.path("/proc/self/ns/pid")); err == nil && namespace != initialPIDs {
		return
	}
	for i := range m.GPUs {
		for j := range m.GPUs[i].Processes {
			p := &m.GPUs[i].Processes[j]
			p.Command = clip(report.Redact(commandLine(s.text("/proc/"+strconv.Itoa(p.PID)+"/cmdline"))), maxNamed)
		}
	}
}

// markOwn marks the job's processes.
func (s *system) markOwn(m *Machine) {
	if s.job == nil {
		return
	}
	for i := range m.GPUs {
		for j, p := range m.GPUs[i].Processes {
			m.GPUs[i].Processes[j].Own = s.job.kin(p.PID) == ours
		}
	}
}

func (m *Machine) fail(source string, err error) {
	if err != nil {
		m.Failures = append(m.Failures, Failure{Source: source, Error: err.Error()})
	}
}

func (m *Machine) failed(source string) bool {
	return slices.ContainsFunc(m.Failures, func(f Failure) bool { return f.Source == source })
}

// path is an absolute path on the machine that is read.
func (s *system) path(name string) string { return filepath.Join(s.root, name) }

// variable looks a name up in the job's environment; the last one counts, as for a program started with it.
func (s *system) variable(name string) (value string, ok bool) {
	for _, entry := range s.env {
		if n, v, found := strings.Cut(entry, "="); found && n == name {
			value, ok = v, true
		}
	}
	return value, ok
}

// shownVariables start the names of the environment variables that are told. Others may hold secrets and decide nothing.
var shownVariables = []string{"NVTE_", "NCCL_", "CUDA_", "CUDNN_", "CUBLAS_", "TORCH_", "PYTORCH_", "XLA_", "JAX_", "TRITON_", "GLOO_",
	"UCX_", "FI_", "NVIDIA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "LD_PRELOAD", "OMP_NUM_THREADS", "WORLD_SIZE", "RANK", "LOCAL_RANK",
	"LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}

// environment picks the variables to tell, leaving out any whose name sounds like a secret.
func (s *system) environment() map[string]string {
	shown := map[string]string{}
	for _, entry := range s.env {
		name, value, _ := strings.Cut(entry, "=")
		start := func(prefix string) bool {
			return name == prefix || strings.HasSuffix(prefix, "_") && strings.HasPrefix(name, prefix)
		}
		secret := func(word string) bool { return strings.Contains(name, word) }
		if slices.ContainsFunc(shownVariables, start) && !slices.ContainsFunc([]string{"TOKEN", "SECRET", "PASSWORD", "API_KEY"}, secret) {
			shown[name] = report.Redact(clip(value, 4000))
		}
	}
	return shown
}

// unset lists the variables that decide about backends and are not set. They are known to be absent, which a log seldom tells.
func (s *system) unset(base *rules.Base) []string {
	libraries, err := base.Libraries()
	if err != nil {
		return nil
	}
	var names []string
	for _, library := range libraries {
		for _, fact := range library.Facts() {
			name, isVariable := strings.CutPrefix(fact.Name, "env.")
			if _, set := s.variable(name); isVariable && !set && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
