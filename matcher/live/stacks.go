package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/report"
)

// Bounds of what is shown of a job that stands still.
const (
	maxStacks = 16 // processes
	maxFrames = 12 // of one stack, the innermost
	stackTime = 5 * time.Second
)

// Where is where the processes of a job are and what the GPUs do at this moment, as lines to quote: of each rank, or of each process where
// none names a rank, its Python stack by py-spy, or what /proc tells when there is no py-spy or it may not look. Nothing is stopped for it.
func (j *Job) Where(ctx context.Context, options Options) []report.Evidence {
	ctx, cancel := context.WithTimeout(ctx, 3*stackTime)
	defer cancel()
	options.Timeout = stackTime
	s := newSystem(options)
	var shown []report.Evidence
	for _, p := range ranksOf(j.Running()) {
		frames, by := s.pythonStack(ctx, p.PID), "by py-spy"
		if len(frames) == 0 {
			frames, by = j.kernelView(p.PID), "by /proc"
		}
		shown = append(shown, quotes(p.place()+", "+by, p.rank(), frames)...)
	}
	m := &Machine{}
	if s.readGPUs(ctx, m) == nil {
		shown = append(shown, quotes("nvidia-smi", nil, gpuUse(m.GPUs))...)
	}
	return shown
}

// ranksOf are the processes that are a rank, all when none is: of those that one rank started and that have its environment, the first.
func ranksOf(running []JobProcess) []JobProcess {
	var ranks []JobProcess
	known := map[string]bool{"": true}
	for _, p := range running {
		if !known[p.Rank] {
			known[p.Rank] = true
			ranks = append(ranks, p)
		}
	}
	if len(ranks) == 0 {
		ranks = running
	}
	return ranks[:min(len(ranks), maxStacks)]
}

func (p JobProcess) rank() *int {
	if rank, err := strconv.Atoi(p.Rank); err == nil {
		return &rank
	}
	return nil
}

func quotes(source string, rank *int, lines []string) []report.Evidence {
	quoted := make([]report.Evidence, len(lines))
	for i, line := range lines {
		quoted[i] = report.Evidence{Source: source, Rank: rank, Text: clip(line, 300)}
	}
	return quoted
}

func gpuUse(gpus []GPU) (lines []string) {
	for _, gpu := range gpus {
		use, memory := "use not known", ""
		if gpu.Utilization != nil {
			use = fmt.Sprintf("%.0f %% busy", *gpu.Utilization)
		}
		if gpu.Memory.UsedMiB != nil && gpu.Memory.TotalMiB != nil {
			memory = fmt.Sprintf(", %.1f of %.1f GiB used", gib(*gpu.Memory.UsedMiB), gib(*gpu.Memory.TotalMiB))
		}
		lines = append(lines, gpu.label()+": "+use+memory)
	}
	return lines
}

// pythonStack is the stack of a process's main thread as py-spy tells it, the innermost frame first; nil when it cannot.
func (s *system) pythonStack(ctx context.Context, pid int) []string {
	out, err := s.program(ctx, "py-spy", "dump", "--nonblocking", "--pid", strconv.Itoa(pid))
	if err != nil {
		return nil
	}
	return mainThread(string(out))
}

// mainThread is the part of py-spy's answer about the main thread, or about the first one:
//
//	Thread 4242 (idle): "MainThread"
//	    wait (threading.py:331)
func mainThread(out string) []string {
	var frames []string
	inside := false
	for line := range strings.Lines(out) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "Thread "):
			if inside && len(frames) > 0 || !inside && len(frames) > 0 && !strings.Contains(line, "MainThread") {
				return frames
			}
			inside, frames = strings.Contains(line, "MainThread") || len(frames) == 0, nil
		case inside && text != "" && len(frames) < maxFrames && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")):
			frames = append(frames, text)
		}
	}
	return frames
}

// kernelView is what /proc tells of where a process is: the state of its main thread, the system call that it waits in, and on what.
func (j *Job) kernelView(pid int) []string {
	text := j.text(pid, "stat")
	end := strings.LastIndexByte(text, ')')
	if end < 0 || len(text) < end+3 {
		return nil
	}
	line := stateNames[text[end+2]]
	if line == "" {
		line = "state " + text[end+2:end+3]
	}
	call := strings.Fields(j.text(pid, "syscall"))
	if len(call) > 1 {
		line += j.callName(pid, call)
	}
	if place := strings.TrimSpace(j.text(pid, "wchan")); place != "" && place != "0" {
		line += ", in the kernel at " + place
	}
	lines := []string{line}
	if children, _ := filepath.Glob(j.path(fmt.Sprintf("/proc/%d/task/*", pid))); len(children) > 1 {
		lines = append(lines, fmt.Sprintf("%d threads", len(children)))
	}
	return lines
}

// stateNames are the states of the stat file (proc_pid_stat(5)).
var stateNames = map[byte]string{
	'R': "computes, or spins as a program does that waits for a GPU",
	'S': "sleeps",
	'D': "waits for storage or a driver and cannot be interrupted",
	'T': "was stopped by a signal",
	't': "is held by a debugger",
	'Z': "has ended, and nobody asked how",
}

// callName tells the system call that a thread is in, with the file that it is about. The first word of the call is its number, the second
// its first argument.
func (j *Job) callName(pid int, call []string) string {
	number, err := strconv.Atoi(call[0])
	if err != nil || number < 0 {
		return ""
	}
	known, ok := systemCalls[number]
	if !ok {
		known, ok = ownCalls[number]
	}
	if !ok {
		return ", in system call " + call[0]
	}
	text := " in " + known.name
	if !known.file {
		return text
	}
	descriptor, err := strconv.ParseUint(strings.TrimPrefix(call[1], "0x"), 16, 31)
	if err != nil {
		return text
	}
	target, err := os.Readlink(j.path(fmt.Sprintf("/proc/%d/fd/%d", pid, descriptor)))
	if err != nil {
		return text
	}
	return text + " of " + clip(target, 200)
}

// systemCall is one that programs wait in.
type systemCall struct {
	name string
	file bool // its first argument is a file descriptor
}
