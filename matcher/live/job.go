package live

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gpu-triage/triage/matcher/report"
)

// Job is the processes of a command that runs on this machine, as /proc shows them again and again: the command, what it started, and
// what that started, also when its parent has ended since. It may be used by many goroutines.
type Job struct {
	root       string
	oom        oomCounter
	sameNumber bool // the kernel's messages have the process numbers that /proc has
	sameGroups bool // and the names of cgroups

	mutex   sync.Mutex
	known   map[int]*process // by pid, those of others and those that have ended too
	passes  int
	cgroups map[string]bool // that the job's processes were in
	gpus    map[int]bool    // minor numbers of the GPUs that they opened
	stop    chan struct{}
	stopped sync.WaitGroup
}

// process is one line of /proc. Of those that have ended it is what was last seen.
type process struct {
	pid, parent, group, session int
	start                       string // in ticks since boot: tells two processes apart that had one number
	command                     string
	own                         bool // belongs to the job
	rank                        string
	looks                       int // at it
	last                        int // the number of the last pass in which it was there
}

// How often /proc is looked at: soon after the start often, because commands start their processes then.
const (
	firstLook  = 50 * time.Millisecond
	rareLook   = time.Second
	lookShare  = 100    // at most so small a part of the time is spent on it
	maxKnown   = 50_000 // processes
	maxCommand = 300    // bytes
)

// WatchJob notes which processes there are before a command starts: those are of others.
func WatchJob() *Job { return watchJob("/") }

func watchJob(root string) *Job {
	j := &Job{root: root, known: map[int]*process{}, cgroups: map[string]bool{}, gpus: map[int]bool{}, stop: make(chan struct{})}
	j.sameNumber, j.sameGroups = j.namespace("pid", initialPIDs), j.namespace("cgroup", initialCgroups)
	j.passes = 1
	for _, pid := range j.pids() {
		j.known[pid] = &process{pid: pid, last: j.passes}
	}
	j.oom.begin(j.path)
	return j
}

// The machine's own namespaces (PROC_PID_INIT_INO and PROC_CGROUP_INIT_INO of the kernel's linux/proc_ns.h). In a container the kernel's
// messages have other numbers of processes and other names of cgroups than /proc.
const (
	initialPIDs    = "pid:[4026531836]"
	initialCgroups = "cgroup:[4026531835]"
)

// namespace tells whether this process is in that namespace, which a kernel without namespaces need not say.
func (j *Job) namespace(name, initial string) bool {
	link, err := os.Readlink(j.path("/proc/self/ns/" + name))
	return err != nil || link == initial
}

func (j *Job) path(name string) string { return filepath.Join(j.root, name) }

// Started says that the command runs as that process. Its processes are watched from now on, until Stop.
func (j *Job) Started(pid int) {
	j.mutex.Lock()
	command := j.read(pid)
	if command == nil { // it has ended already
		command = &process{pid: pid}
	}
	command.own, command.last = true, j.passes
	j.known[pid] = command
	j.mutex.Unlock()
	j.stopped.Go(j.watch)
}

// Stop ends the watching after a last look.
func (j *Job) Stop() {
	close(j.stop)
	j.stopped.Wait()
	j.look()
	j.oom.end(j.path)
}

func (j *Job) watch() {
	start := time.Now()
	for {
		began := time.Now()
		j.look()
		took := time.Since(began)
		pause := max(firstLook, min(time.Since(start)/20, rareLook), lookShare*took)
		select {
		case <-j.stop:
			return
		case <-time.After(pause):
		}
	}
}

// look brings what is known up to date.
func (j *Job) look() {
	pids := j.pids()
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.passes++
	var fresh []*process
	for _, pid := range pids {
		p := j.known[pid]
		if p == nil || p.last < j.passes-1 { // new, or another one with the number of one that has ended
			if p = j.fresh(pid); p == nil {
				continue
			}
			fresh = append(fresh, p)
		}
		p.last = j.passes
	}
	j.adopt(fresh)
	for _, p := range j.known {
		if p.own && p.last == j.passes {
			j.inspect(p)
			p.looks++
		}
	}
}

// pids are the numbers of all processes that there are.
func (j *Job) pids() (pids []int) {
	folder, err := os.Open(j.path("/proc"))
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// fresh reads a process that was not there in the last pass. What was the job's once stays so.
func (j *Job) fresh(pid int) *process {
	if len(j.known) >= maxKnown {
		maps.DeleteFunc(j.known, func(_ int, p *process) bool { return !p.own && p.last < j.passes-1 })
	}
	p := j.read(pid)
	if p == nil || len(j.known) >= maxKnown {
		return nil
	}
	p.own = j.known[pid] != nil && j.known[pid].own
	j.known[pid] = p
	return p
}

// adopt takes in those of the new processes that the job started: a parent, a process group or a session is the job's.
func (j *Job) adopt(fresh []*process) {
	ours := func(pid int) bool { return j.known[pid] != nil && j.known[pid].own }
	for changed := true; changed; {
		changed = false
		for _, p := range fresh {
			if !p.own && (ours(p.parent) || ours(p.group) || ours(p.session)) {
				p.own, changed = true, true
			}
		}
	}
}

// inspect notes where a process of the job belongs. It may have moved since the last time; what it opened is looked at less and less often.
func (j *Job) inspect(p *process) {
	if group := memoryCgroup(j.text(p.pid, "cgroup")); group != "" {
		j.cgroups[group] = true
	}
	if p.looks&(p.looks-1) != 0 { // 0, 1, 2, 4, 8, ...
		return
	}
	p.command, p.rank = j.commandLine(p.pid), j.rankOf(p.pid)
	links, _ := filepath.Glob(j.path("/proc/" + strconv.Itoa(p.pid) + "/fd/*"))
	for _, link := range links[:min(len(links), 4096)] {
		target, _ := os.Readlink(link)
		if minor, ok := strings.CutPrefix(target, "/dev/nvidia"); ok {
			if number, err := strconv.Atoi(minor); err == nil {
				j.gpus[number] = true
			}
		}
	}
}

func (j *Job) text(pid int, name string) string {
	data, err := os.ReadFile(j.path("/proc/" + strconv.Itoa(pid) + "/" + name))
	if err != nil || len(data) > 1<<20 {
		return ""
	}
	return string(data)
}

// read is a process as its stat file tells it, which has the name between the first ( and the last ).
func (j *Job) read(pid int) *process {
	text := j.text(pid, "stat")
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return nil
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) < 20 {
		return nil
	}
	p := &process{pid: pid, command: text[open+1 : end], start: fields[19]}
	for i, field := range []*int{&p.parent, &p.group, &p.session} {
		*field, _ = strconv.Atoi(fields[1+i])
	}
	return p
}

// commandLine is the command with its arguments.
func (j *Job) commandLine(pid int) string { return commandLine(j.text(pid, "cmdline")) }

func commandLine(text string) string {
	return clip(strings.TrimSpace(strings.ReplaceAll(text, "\x00", " ")), maxCommand)
}

// rankVariables name the rank of a process, the global one first.
var rankVariables = []string{"RANK=", "SLURM_PROCID=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "LOCAL_RANK="}

// rankOf is the rank that the environment of a process names, or "".
func (j *Job) rankOf(pid int) string {
	variables := strings.Split(j.text(pid, "environ"), "\x00")
	for _, name := range rankVariables {
		for _, variable := range variables {
			if value, ok := strings.CutPrefix(variable, name); ok {
				if _, err := strconv.Atoi(value); err == nil {
					return value
				}
			}
		}
	}
	return ""
}

// memoryCgroup is the path of the memory controller in a process's list of cgroups: that of version 1 where there is one.
func memoryCgroup(list string) string {
	path := ""
	for line := range strings.Lines(list) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if slices.Contains(strings.Split(parts[1], ","), "memory") {
			return parts[2]
		}
		if parts[1] == "" {
			path = parts[2]
		}
	}
	return path
}

// JobProcess is a process of the job that is there.
type JobProcess struct {
	PID     int
	Rank    string // as its environment names it, or ""
	Command string
}

// String names the process for a sentence.
func (p JobProcess) String() string {
	if p.Rank != "" {
		return "rank " + p.Rank + ", " + p.place()
	}
	return p.place()
}

func (p JobProcess) place() string {
	return fmt.Sprintf("%s (pid %d)", clip(report.Redact(p.Command), maxNamed), p.PID)
}

// maxNamed bounds a command in a sentence, in bytes.
const maxNamed = 80

// Running are the processes of the job that are there now, by their numbers, without those that are dead and only not yet buried.
func (j *Job) Running() []JobProcess {
	j.look()
	j.mutex.Lock()
	defer j.mutex.Unlock()
	var running []JobProcess
	for _, p := range j.known {
		now := j.read(p.pid)
		if p.own && now != nil && now.start == p.start && !j.dead(p.pid) {
			running = append(running, JobProcess{PID: p.pid, Rank: p.rank, Command: p.command})
		}
	}
	slices.SortFunc(running, func(a, b JobProcess) int { return a.PID - b.PID })
	return running
}

// dead tells that a process has ended and waits for its parent to ask how.
func (j *Job) dead(pid int) bool {
	text := j.text(pid, "stat")
	end := strings.LastIndexByte(text, ')')
	return end < 0 || strings.HasPrefix(text[end+1:], " Z") || strings.HasPrefix(text[end+1:], " X")
}
