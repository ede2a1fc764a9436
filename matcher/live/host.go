package live

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Limits bound what a job may use. Zero or nil means no limit, or that nothing told.
type Limits struct {
	ShmMiB          float64           `json:"shm_mib,omitempty"`           // size of /dev/shm
	ShmFreeMiB      float64           `json:"shm_free_mib,omitempty"`      //
	MemoryMiB       float64           `json:"memory_mib,omitempty"`        // of the whole machine
	MemoryFreeMiB   float64           `json:"memory_free_mib,omitempty"`   // MemAvailable
	MemoryLimitMiB  *float64          `json:"memory_limit_mib,omitempty"`  // of the container or job: the tightest cgroup
	MemoryLimitFrom string            `json:"memory_limit_from,omitempty"` // the file that states it
	User            map[string]string `json:"user,omitempty"`              // soft limits as in /proc/self/limits, with their units
}

// readHost reads what the operating system says of itself. What it does not say stays empty.
func (s *system) readHost(m *Machine) error {
	m.KernelVersion = s.text("/proc/sys/kernel/osrelease")
	m.OS = readOSRelease(s.path("/etc/os-release"))
	m.Glibc = s.glibc()
	m.Boot = s.bootTime()
	m.Limits = s.limits()
	if m.KernelVersion == "" {
		return errors.New("/proc is not readable: kernel, boot time, memory and limits are unknown")
	}
	return nil
}

func (s *system) text(path string) string {
	data, err := os.ReadFile(s.path(path))
	if err != nil || len(data) > 1<<20 {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func readOSRelease(path string) string {
	return strings.Trim(readConfig(path)["PRETTY_NAME"], `"'`)
}

func (s *system) bootTime() time.Time {
	for line := range strings.Lines(s.text("/proc/stat")) {
		if text, ok := strings.CutPrefix(line, "btime "); ok {
			if seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
				return time.Unix(seconds, 0)
			}
		}
	}
	return time.Time{}
}

var glibcVersion = regexp.MustCompile(`GNU C Library[^\n]{0,100} version (\d+\.\d+)`)

// glibc reads the version out of the C library itself, which holds it as text.
func (s *system) glibc() string {
	for _, pattern := range []string{"/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		matches, _ := filepath.Glob(s.path(pattern))
		for _, path := range matches {
			info, err := os.Stat(path)
			if err != nil || info.Size() > 16<<20 {
				continue
			}
			data, err := os.ReadFile(path)
			if m := glibcVersion.FindSubmatch(data); err == nil && m != nil {
				return string(m[1])
			}
		}
	}
	return ""
}

func (s *system) limits() Limits {
	var l Limits
	l.ShmMiB, l.ShmFreeMiB = fileSystemMiB(s.path("/dev/shm"))
	for line := range strings.Lines(s.text("/proc/meminfo")) {
		name, value, _ := strings.Cut(line, ":")
		size, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		switch name {
		case "MemTotal":
			l.MemoryMiB = kib(size)
		case "MemAvailable":
			l.MemoryFreeMiB = kib(size)
		}
	}
	l.MemoryLimitMiB, l.MemoryLimitFrom = s.memoryLimit()
	l.User = s.userLimits()
	return l
}

// memoryLimit finds the tightest memory limit among this process's cgroup and those around it.
func (s *system) memoryLimit() (*float64, string) {
	var tightest *float64
	from := ""
	consider := func(path string) {
		bytes, err := strconv.ParseFloat(s.text(path), 64)
		if err != nil || bytes <= 0 || bytes >= math.MaxInt64/2 { // v1 writes "no limit" as a huge number, v2 as "max"
			return
		}
		if mib := bytes / (1 << 20); tightest == nil || mib < *tightest {
			tightest, from = &mib, path
		}
	}
	for line := range strings.Lines(s.text("/proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if strings.Contains(parts[1], "memory") {
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		for group := filepath.Clean("/" + parts[2]); ; group = filepath.Dir(group) {
			consider(filepath.Join(root, group, file))
			if group == "/" {
				break
			}
		}
	}
	return tightest, from
}

var limitLine = regexp.MustCompile(`^Max ([a-z ]+?)\s{2,}(\S+)\s+\S+\s*(\S*)`)

// userLimits reads the soft limits that jobs trip over.
func (s *system) userLimits() map[string]string {
	limits := map[string]string{}
	for line := range strings.Lines(s.text("/proc/self/limits")) {
		m := limitLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		switch m[1] {
		case "open files", "processes", "locked memory", "address space", "stack size", "core file size":
			limits[m[1]] = strings.TrimSpace(m[2] + " " + m[3])
		}
	}
	return limits
}

// readDriver reads /proc/driver/nvidia: the version of the kernel module, which can differ from that of the libraries after an
// upgrade without a reboot, and the GPUs when nvidia-smi told none.
func (s *system) readDriver(m *Machine) error {
	version := s.text("/proc/driver/nvidia/version")
	if version == "" {
		return errors.New("/proc/driver/nvidia: the NVIDIA kernel module is not loaded")
	}
	parts := moduleVersion.FindStringSubmatch(firstLine([]byte(version)))
	if parts == nil {
		return fmt.Errorf("/proc/driver/nvidia/version says nothing known: %q", firstLine([]byte(version)))
	}
	m.KernelModule, m.OpenModule = parts[1], strings.Contains(version, "Open Kernel Module")
	m.minors = make(map[string]int)
	folders, _ := filepath.Glob(s.path("/proc/driver/nvidia/gpus/*/information"))
	for i, path := range folders {
		info := map[string]string{}
		data, _ := os.ReadFile(path)
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(line, ":"); ok {
				info[strings.TrimSpace(name)] = strings.TrimSpace(value)
			}
		}
		if minor, err := strconv.Atoi(info["Device Minor"]); err == nil {
			m.minors[info["Bus Location"]] = minor
		}
		m.procGPUs = append(m.procGPUs, GPU{Index: i, Name: word(info["Model"]), UUID: word(info["GPU UUID"]), Bus: word(info["Bus Location"])})
	}
	return nil
}

var moduleVersion = regexp.MustCompile(`NVRM version: .*?\s(\d+\.\d+(?:\.\d+)?)\s`)
