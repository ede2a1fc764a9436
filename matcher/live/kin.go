package live

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kinship is whose an event of the kernel is.
type kinship int

const (
	unclear kinship = iota
	ours
	foreign
)

// Of leaves of the kernel's messages only those that are about the job or about the whole machine. What it leaves out are notes: what
// happened to others on this machine meanwhile. A kill of which nobody can tell whose process it was makes it unknown whether the job
// lost one.
func (m *Machine) Of(j *Job) (own *Machine, notes []string) {
	clone := *m
	clone.Xids, clone.OOMKills, clone.Kernel = nil, nil, nil
	for _, kill := range m.OOMKills {
		switch whose := j.kinOfKill(kill); {
		case whose == ours:
			clone.OOMKills = append(clone.OOMKills, kill)
		default:
			clone.oomUnclear = clone.oomUnclear || whose == unclear
			notes = append(notes, meanwhile(KernelSource(kill.Time), "the kernel killed "+kill.String(), whose))
		}
	}
	var strange []Xid
	for _, x := range m.Xids {
		if whose := j.kinOfXid(x, m); whose == ours {
			clone.Xids = append(clone.Xids, x)
		} else {
			strange = append(strange, x)
			notes = append(notes, meanwhile(KernelSource(x.Time), x.String()+x.whose(), whose))
		}
	}
	for _, line := range m.Kernel {
		if !j.strange(line, m.OOMKills, clone.OOMKills, strange) {
			clone.Kernel = append(clone.Kernel, line)
		}
	}
	return &clone, shortened(notes)
}

// maxMeanwhile bounds the notes about others.
const maxMeanwhile = 4

func shortened(notes []string) []string {
	notes = slices.Compact(notes)
	if more := len(notes) - maxMeanwhile; more > 0 {
		notes = append(notes[:maxMeanwhile:maxMeanwhile], fmt.Sprintf("%d more messages of the kernel are not about this job.", more))
	}
	return notes
}

// meanwhile is a note about something that was not the job's.
func meanwhile(source, what string, whose kinship) string {
	ending := "It was not this job's."
	if whose == unclear {
		ending = "Whether it was this job's, nothing tells."
	}
	return fmt.Sprintf("On this machine, meanwhile: %s (%s). %s", what, source, ending)
}

// whose is the process that an Xid names, for a sentence.
func (x Xid) whose() string {
	if x.PID == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf(", by pid %d (%s)", x.PID, x.Process), " ()")
}

// kin tells whose a process is by its number.
func (j *Job) kin(pid int) kinship {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	switch p := j.known[pid]; {
	case p == nil || !j.sameNumber:
		return unclear
	case p.own:
		return ours
	}
	return foreign
}

// kinOfKill tells whose a process was that the kernel killed: by its number, by its cgroup, and by what the job's cgroup counted.
func (j *Job) kinOfKill(kill OOMKill) kinship {
	if whose := j.kin(kill.PID); whose != unclear {
		return whose
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	for group := range j.cgroups {
		if group != "/" && (below(kill.TaskCgroup, group) || below(kill.Cgroup, group)) {
			return ours
		}
	}
	if j.sameGroups && kill.TaskCgroup != "" && !j.cgroups[kill.TaskCgroup] {
		return foreign
	}
	switch kills, known := j.oom.kills(); {
	case known && kills > 0:
		return ours
	case known:
		return foreign
	}
	return unclear
}

func below(path, group string) bool {
	rest, ok := strings.CutPrefix(path, group)
	return ok && (rest == "" || rest[0] == '/')
}

// kinOfXid tells whose an error of a GPU is: the named process's, or, where none is named, of all who used the GPU.
func (j *Job) kinOfXid(x Xid, m *Machine) kinship {
	whose := j.kin(x.PID)
	switch {
	case whose != unclear:
		return whose
	case x.PID != 0 && j.sameNumber: // it came and went between two looks, which no program that uses a GPU does
		return foreign
	case !j.used(x, m):
		return foreign
	}
	return ours
}

// used tells whether the job used the GPU that an Xid is about: it opened it or, where that could not be seen, it could have.
func (j *Job) used(x Xid, m *Machine) bool {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	for bus, minor := range m.minors {
		if sameBus(bus, x.Bus) {
			return j.gpus[minor]
		}
	}
	return len(m.GPUs) == 0 || slices.ContainsFunc(m.visible(), func(g GPU) bool { return sameBus(g.Bus, x.Bus) })
}

// namedProcess finds the number of the process that a message of the kernel is about.
var namedProcess = regexp.MustCompile(`\bpid[=:]\s?'?(\d+)|(?:[Kk]ill(?:ed)?|reaped) process (\d+)|^(?:traps: )?[^\s\[]{1,32}\[(\d+)\][: ]|\btask [^\s:]{1,32}:(\d+) blocked`)

// aboutMemory are the lines around a kill, which name no process.
var aboutMemory = regexp.MustCompile(`invoked oom-killer|oom_kill|^memory: usage|Memory cgroup|oom-kill:|Out of memory`)

// strange tells whether a message of the kernel is about others.
func (j *Job) strange(line KernelLine, kills, own []OOMKill, xids []Xid) bool {
	if slices.ContainsFunc(xids, func(x Xid) bool { return x.Time.Equal(line.Time) && strings.HasSuffix(line.Text, x.Text) }) {
		return true
	}
	isKill := func(kills []OOMKill, pid int) bool {
		return slices.ContainsFunc(kills, func(k OOMKill) bool { return k.PID == pid })
	}
	if pid := pidIn(line.Text); pid != 0 {
		return isKill(kills, pid) && !isKill(own, pid) || j.kin(pid) == foreign
	}
	return len(own) == 0 && aboutMemory.MatchString(line.Text)
}

func pidIn(text string) int {
	for _, group := range namedProcess.FindStringSubmatch(text) {
		if pid, err := strconv.Atoi(group); err == nil {
			return pid
		}
	}
	return 0
}

// oomCounter counts the processes of the job's cgroup that the kernel killed for memory, where the cgroup counts them.
type oomCounter struct {
	file         string // "" where there is none
	before, gone int
}

// begin finds the counter of this process's cgroup, which a command inherits, and reads it.
func (c *oomCounter) begin(path func(string) string) {
	data, _ := os.ReadFile(path("/proc/self/cgroup"))
	group := memoryCgroup(string(data))
	if group == "" {
		return
	}
	for _, file := range []string{"/sys/fs/cgroup/" + group + "/memory.events", "/sys/fs/cgroup/memory/" + group + "/memory.oom_control"} {
		count, ok := oomCount(path(filepath.Clean(file)))
		if ok {
			c.file, c.before = filepath.Clean(file), count
			return
		}
	}
}

// end reads it again.
func (c *oomCounter) end(path func(string) string) {
	if c.file == "" {
		return
	}
	count, ok := oomCount(path(c.file))
	if !ok {
		c.file = ""
	}
	c.gone = count - c.before
}

// kills is how many there were, if that is known.
func (c *oomCounter) kills() (n int, known bool) { return c.gone, c.file != "" }

func oomCount(file string) (n int, ok bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if text, found := strings.CutPrefix(line, "oom_kill "); found {
			n, err = strconv.Atoi(strings.TrimSpace(text))
			return n, err == nil
		}
	}
	return 0, false
}
