package live

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/traceback"
)

// Origin says whether a log was written on this machine.
type Origin int

// What a log can say of it.
const (
	Undecided Origin = iota
	Here
	Elsewhere
)

// OriginOf compares what a log says of its machine with this one, and gives the reason in words.
func (m *Machine) OriginOf(log facts.LogOrigin) (Origin, string) {
	if reason := m.otherPlace(log); reason != "" {
		return Elsewhere, reason
	}
	here, elsewhere := 0, ""
	for _, frame := range log.Library {
		switch sameSource(frame) {
		case Here:
			here++
		case Elsewhere:
			elsewhere = frame.File
		}
	}
	switch {
	case here == 0 && elsewhere != "":
		return Elsewhere, "this machine has no " + elsewhere + " as the log shows it"
	case here > 0:
		return Here, "its traceback runs through files of this machine"
	case m.names(log.Hosts):
		return Here, "it names this host"
	}
	return Undecided, ""
}

func (m *Machine) otherPlace(log facts.LogOrigin) string {
	if len(log.Hosts) > 0 && m.Host != "" && !m.names(log.Hosts) {
		return fmt.Sprintf("the log is from %s, this is %s", strings.Join(log.Hosts[:min(3, len(log.Hosts))], ", "), m.Host)
	}
	if !log.Last.IsZero() && !m.Boot.IsZero() && log.Last.Before(m.Boot) {
		return fmt.Sprintf("the log ends at %s, this machine was booted at %s", log.Last.Format("2006-01-02 15:04"), m.Boot.Format("2006-01-02 15:04"))
	}
	if len(m.GPUs) == 0 {
		return ""
	}
	if gpu, ok := log.Facts["gpu"].Value.JSON().(string); ok && !m.hasGPU(gpu) {
		return fmt.Sprintf("the log is about %s, this machine has %s", gpu, m.GPUs[0].Name)
	}
	if sm, ok := log.Facts["sm"].Value.JSON().(float64); ok && m.GPUs[0].SM() != 0 && int(sm) != m.GPUs[0].SM() {
		return fmt.Sprintf("the log is about compute capability %.1f, this machine has %s", sm/10, m.GPUs[0].ComputeCapability)
	}
	// CUDA reports somewhat less than the driver.
	total := known(m.GPUs[0].Memory.TotalMiB) / 1024
	if seen, ok := log.Facts["gpu_memory_gib"].Value.JSON().(float64); ok && total > 0 && m.GPUs[0].MIG != "Enabled" && math.Abs(seen-total) > total/20 {
		return fmt.Sprintf("the log is about a GPU with %.0f GiB, this machine's have %.0f GiB", seen, total)
	}
	return ""
}

// names tells whether one of the hosts is this machine; some logs have the short name and some the full one.
func (m *Machine) names(hosts []string) bool {
	short, _, _ := strings.Cut(m.Host, ".")
	for _, host := range hosts {
		if first, _, _ := strings.Cut(host, "."); m.Host != "" && strings.EqualFold(first, short) {
			return true
		}
	}
	return false
}

// hasGPU compares model names, which tools print with and without the maker and the brand.
func (m *Machine) hasGPU(name string) bool {
	plain := func(name string) string {
		return strings.TrimSpace(strings.NewReplacer("nvidia", "", "tesla", "", "geforce", "", "  ", " ").Replace(strings.ToLower(name)))
	}
	for _, gpu := range m.GPUs {
		a, b := plain(gpu.Name), plain(name)
		if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
			return true
		}
	}
	return false
}

// maxSource bounds the source files that are compared with a traceback.
const maxSource = 4 << 20

// sameSource tells whether a file of this machine has the line that the traceback shows.
func sameSource(frame traceback.Frame) Origin {
	info, err := os.Stat(frame.File)
	if os.IsNotExist(err) {
		return Elsewhere
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return Undecided
	}
	file, err := os.Open(frame.File)
	if err != nil {
		return Undecided
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, maxSource)
	for number := 1; scanner.Scan() && number <= frame.Line; number++ {
		if number == frame.Line && strings.TrimSpace(scanner.Text()) == strings.TrimSpace(frame.Code) {
			return Here
		}
	}
	return Elsewhere
}

// HasGPU tells quickly whether this machine seems to have an NVIDIA GPU at all.
func HasGPU() bool {
	for _, path := range []string{"/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg"} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// PackageFolder is the folder of Python packages that a log's tracebacks run through, if this machine has it, else "".
func PackageFolder(log facts.LogOrigin) string {
	for _, frame := range log.Library {
		folder, _, _ := strings.Cut(frame.File, "-packages/")
		if info, err := os.Stat(folder + "-packages"); err == nil && info.IsDir() {
			return folder + "-packages"
		}
	}
	return ""
}
