package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gpu-triage/triage/rules/xid"
)

// KernelLine is one message of the kernel. Time is zero when the source gave none.
type KernelLine struct {
	Time time.Time `json:"time,omitzero"`
	Text string    `json:"text"`
}

// maxKernelLines bounds what is kept of the kernel's messages: the newest that have to do with GPUs, memory, PCIe and crashes.
const maxKernelLines = 2000

// readKernel reads the kernel's messages from the first place that lets us: /dev/kmsg, dmesg, the journal.
func (s *system) readKernel(ctx context.Context, m *Machine) error {
	kmsg, err := s.readKmsg(m.Boot)
	if err == nil {
		m.Kernel = keepKernel(kmsg)
		return nil
	}
	out, dmesgErr := s.program(ctx, "dmesg", "--time-format=iso")
	if dmesgErr != nil {
		out, dmesgErr = s.program(ctx, "journalctl", "-k", "-b", "-q", "--no-pager", "-o", "short-iso-precise", "-n", "20000")
	}
	lines := parseKernelText(out)
	if dmesgErr == nil && len(lines) > 0 {
		m.Kernel = keepKernel(lines)
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("kernel messages: no /dev/kmsg, and neither dmesg nor the journal answered")
	}
	return fmt.Errorf("kernel messages: %w; `sudo dmesg` tells them", err)
}

// readKmsg reads the ring buffer as it is, without waiting for more. Records overwritten meanwhile are skipped.
func (s *system) readKmsg(boot time.Time) ([]KernelLine, error) {
	if s.root != "/" {
		data, err := os.ReadFile(s.path("/dev/kmsg"))
		return parseKmsg(bytes.Split(data, []byte("\x00")), boot), err
	}
	fd, err := syscall.Open("/dev/kmsg", syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/kmsg: %w", err)
	}
	defer syscall.Close(fd)
	var records [][]byte
	buffer := make([]byte, 8<<10)
	for range 200_000 {
		n, err := syscall.Read(fd, buffer)
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			break // EAGAIN: that was the last one
		}
		if n > 0 && interesting(string(buffer[:n])) {
			records = append(records, bytes.Clone(buffer[:n]))
		}
	}
	return parseKmsg(records, boot), nil
}

// parseKmsg reads records of the form "6,1234,5678901,-;text", the third field being microseconds since boot.
func parseKmsg(records [][]byte, boot time.Time) []KernelLine {
	var lines []KernelLine
	for _, record := range records {
		header, text, ok := strings.Cut(string(record), ";")
		fields := strings.Split(header, ",")
		if !ok || len(fields) < 3 {
			continue
		}
		line := KernelLine{Text: clip(strings.TrimRight(firstLine([]byte(text)), "\n"), 1000)}
		if micros, err := strconv.ParseInt(fields[2], 10, 64); err == nil && !boot.IsZero() {
			line.Time = boot.Add(time.Duration(micros) * time.Microsecond)
		}
		lines = append(lines, line)
	}
	return lines
}

// kernelStamp matches the start of a line of `dmesg --time-format=iso` or of a journal in short-iso form.
var kernelStamp = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]?\d*(?:Z|[+-]\d\d:?\d\d)?)\s+(?:\S+ kernel: )?(.*)$`)

func parseKernelText(out []byte) []KernelLine {
	var lines []KernelLine
	for text := range strings.Lines(string(out)) {
		text = strings.TrimSpace(text)
		if !interesting(text) {
			continue
		}
		line := KernelLine{Text: clip(text, 1000)}
		if parts := kernelStamp.FindStringSubmatch(text); parts != nil {
			line.Time, line.Text = parseStamp(parts[1]), clip(parts[2], 1000)
		}
		lines = append(lines, line)
	}
	return lines
}

func parseStamp(text string) time.Time {
	text = strings.Replace(text, ",", ".", 1)
	for _, layout := range []string{"2006-01-02T15:04:05.999999Z07:00", "2006-01-02T15:04:05.999999Z0700", "2006-01-02T15:04:05.999999"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t
		}
	}
	return time.Time{}
}

// interesting keeps what the kernel, its OOM killer and the drivers of GPUs and their links say, and leaves out the rest of a
// machine's life (mounts, containers, firewalls).
func interesting(text string) bool {
	for _, word := range []string{"NVRM", "nvidia", "NVLink", "Xid", "oom", "OOM", "memory", "Killed process", "segfault", "traps:", "MCE",
		"mce:", "AER:", "EDAC", "mlx5", "hung_task", "blocked for more than", "thermal", "I/O error"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// KernelSource is what evidence from the kernel's messages is called.
func KernelSource(at time.Time) string {
	if at.IsZero() {
		return KernelLogName
	}
	return KernelLogName + ", " + at.Format(time.TimeOnly)
}

// KernelLogName is the name under which the kernel's messages are read.
const KernelLogName = sourceKernel

func keepKernel(lines []KernelLine) []KernelLine {
	if len(lines) > maxKernelLines {
		lines = lines[len(lines)-maxKernelLines:]
	}
	return lines
}

// Xid is an error that the driver reported to the kernel's log.
type Xid struct {
	Time    time.Time `json:"time,omitzero"`
	Code    int       `json:"code"`
	Host    string    `json:"host,omitempty"` // among those of several machines
	Bus     string    `json:"bus"`            // PCI address of the GPU
	GPU     *int      `json:"gpu,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Process string    `json:"process,omitempty"`
	Text    string    `json:"text"` // what follows the code
	// What the catalogue says.
	Name     string `json:"name,omitempty"`
	Blame    string `json:"blame,omitempty"` // hardware, driver, application, consequence, information
	Action   string `json:"action,omitempty"`
	Later    string `json:"later,omitempty"`
	SubCode  *int   `json:"sub_code,omitempty"` // of an NVLink error
	Severity string `json:"severity,omitempty"`
}

// explain adds to each Xid what the catalogue says of it.
func explain(xids []Xid, catalogue *xid.Catalogue) {
	events := make([]xid.Event, len(xids))
	for i, x := range xids {
		events[i] = xid.Event{GPU: x.Bus, Code: x.Code, Text: x.Text}
	}
	for i, meaning := range catalogue.Explain(events) {
		x := &xids[i]
		x.Name, x.Blame, x.Action, x.Later = meaning.Name, string(meaning.Blame), meaning.Action, meaning.Later
		x.SubCode, x.Severity = meaning.SubCode, meaning.Severity
	}
}

var (
	xidPID     = regexp.MustCompile(`\bpid='?(\d+)`)
	xidProcess = regexp.MustCompile(`\bname='?([^,']+)`)
)

// xids finds the Xids among the kernel's messages, oldest first.
func xids(lines []KernelLine, gpus []GPU, catalogue *xid.Catalogue) []Xid {
	var found []Xid
	for _, line := range lines {
		event, ok := catalogue.Parse(line.Text)
		if !ok {
			continue
		}
		xid := Xid{Time: line.Time, Code: event.Code, Bus: event.GPU, Text: event.Text}
		if pid := xidPID.FindStringSubmatch(event.Text); pid != nil {
			xid.PID, _ = strconv.Atoi(pid[1])
		}
		if name := xidProcess.FindStringSubmatch(event.Text); name != nil && !strings.HasPrefix(name[1], "<") {
			xid.Process = name[1]
		}
		for _, gpu := range gpus {
			if sameBus(gpu.Bus, xid.Bus) {
				xid.GPU = &gpu.Index
			}
		}
		found = append(found, xid)
	}
	explain(found, catalogue)
	return found
}

// OOMKill is a process that the kernel killed for want of memory.
type OOMKill struct {
	Time     time.Time `json:"time,omitzero"`
	PID      int       `json:"pid"`
	Process  string    `json:"process"`
	RSSMiB   float64   `json:"rss_mib"`             // what the process held
	Cgroup   string    `json:"cgroup,omitempty"`    // whose limit was reached; empty when the whole machine ran out
	LimitMiB float64   `json:"limit_mib,omitempty"` // of that cgroup
	// TaskCgroup is that of the process itself, "" where the kernel does not say.
	TaskCgroup string `json:"task_cgroup,omitempty"`
}

var (
	oomVictim = regexp.MustCompile(`[Oo]ut of memory: Kill(?:ed)? process (\d+) \(([^)]*)\)(?:.*?anon-rss:(\d+)kB)?(?:.*?file-rss:(\d+)kB)?(?:.*?shmem-rss:(\d+)kB)?`)
	oomCgroup = regexp.MustCompile(`oom-kill:constraint=CONSTRAINT_MEMCG.*oom_memcg=([^,]+),`)
	oomTask   = regexp.MustCompile(`oom-kill:constraint=.*\btask_memcg=([^,]+),task=`)
	oomOther  = regexp.MustCompile(`oom-kill:constraint=`)
	oomLimit  = regexp.MustCompile(`^\s*(?:\[.*\] )?memory: usage \d+kB, limit (\d+)kB`)
)

// oomKills puts the lines of each out-of-memory event together.
func oomKills(lines []KernelLine) []OOMKill {
	var kills []OOMKill
	var next OOMKill // what is known of the kill that the next lines will tell
	for _, line := range lines {
		if m := oomLimit.FindStringSubmatch(line.Text); m != nil {
			next.LimitMiB = kib(m[1])
		}
		if oomOther.MatchString(line.Text) {
			limit := next.LimitMiB
			next = OOMKill{TaskCgroup: submatch(oomTask, line.Text), Cgroup: submatch(oomCgroup, line.Text)}
			if next.Cgroup != "" {
				next.LimitMiB = limit
			}
		}
		victim := oomVictim.FindStringSubmatch(line.Text)
		if victim == nil {
			continue
		}
		next.Time, next.Process, next.RSSMiB = line.Time, victim[2], kib(victim[3])+kib(victim[4])+kib(victim[5])
		next.PID, _ = strconv.Atoi(victim[1])
		if !strings.Contains(line.Text, "emory cgroup out of memory") {
			next.Cgroup, next.LimitMiB = "", 0
		}
		kills = append(kills, next)
		next = OOMKill{}
	}
	return kills
}

// submatch is the first group of a pattern in a text, "" when it does not match.
func submatch(pattern *regexp.Regexp, text string) string {
	if m := pattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// kib turns a number of KiB into MiB, 0 when text is none.
func kib(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n / 1024
}
