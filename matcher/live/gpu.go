package live

import (
	"fmt"
	"strconv"
	"strings"
)

// GPU is one GPU as the machine tells it. A pointer is nil, and a string empty, where the machine says nothing or "N/A".
type GPU struct {
	Index             int       `json:"index"` // as nvidia-smi counts; CUDA counts alike with CUDA_DEVICE_ORDER=PCI_BUS_ID
	Name              string    `json:"name"`
	UUID              string    `json:"uuid,omitempty"`
	Bus               string    `json:"bus,omitempty"` // PCI address, as 00000000:00:06.0
	Architecture      string    `json:"architecture,omitempty"`
	ComputeCapability string    `json:"compute_capability,omitempty"` // "9.0"
	Memory            Memory    `json:"memory"`
	Processes         []Process `json:"processes,omitempty"`

	MIG        string      `json:"mig,omitempty"` // "Enabled", "Disabled"
	MIGDevices []MIGDevice `json:"mig_devices,omitempty"`

	ECC      string       `json:"ecc,omitempty"` // "Enabled", "Disabled"
	Errors   Errors       `json:"errors"`
	Recovery string       `json:"recovery_action,omitempty"` // what the driver asks for: "None", "GPU Reset", "Node Reboot", ...
	Remapped RemappedRows `json:"remapped_rows"`

	State       string   `json:"performance_state,omitempty"` // "P0"
	Slowdowns   []string `json:"slowdowns,omitempty"`         // active clock limits, as nvidia-smi names them, without "idle"
	Clocks      Clocks   `json:"clocks"`
	Temperature *float64 `json:"temperature_c,omitempty"`
	Power       *float64 `json:"power_w,omitempty"`
	PowerLimit  *float64 `json:"power_limit_w,omitempty"`
	Utilization *float64 `json:"utilization_percent,omitempty"`
	ComputeMode string   `json:"compute_mode,omitempty"`

	PCIe   PCIe    `json:"pcie"`
	NVLink *NVLink `json:"nvlink,omitempty"`
	Fabric string  `json:"fabric,omitempty"` // state of NVSwitch fabric: "Completed", "In Progress", ...

	LastXid *int `json:"last_xid,omitempty"` // only from DCGM: sticky, of any age

	Host string `json:"host,omitempty"` // of a GPU among those of several machines
}

// label is how texts call the GPU.
func (g GPU) label() string {
	if g.Host != "" {
		return fmt.Sprintf("%s GPU %d", g.Host, g.Index)
	}
	return fmt.Sprintf("GPU %d", g.Index)
}

// Memory is framebuffer memory in MiB.
type Memory struct {
	TotalMiB    *float64 `json:"total_mib,omitempty"`
	UsedMiB     *float64 `json:"used_mib,omitempty"`
	FreeMiB     *float64 `json:"free_mib,omitempty"`
	ReservedMiB *float64 `json:"reserved_mib,omitempty"`
}

// Process is a process that uses a GPU. Seen from inside a container the list is often empty although memory is used.
type Process struct {
	PID       int      `json:"pid"`
	Type      string   `json:"type,omitempty"` // "C" computes, "G" draws
	Name      string   `json:"name"`
	MemoryMiB *float64 `json:"memory_mib,omitempty"`
	// Command is its command line, "" where /proc does not show it.
	Command string `json:"command,omitempty"`
	// Instance is the MIG GPU instance, empty without MIG.
	Instance string `json:"instance,omitempty"`
	// Own says that the process belongs to the command that triage ran.
	Own bool `json:"own,omitempty"`
}

// MIGDevice is a slice of a GPU that programs see as a device of its own.
type MIGDevice struct {
	Index           int    `json:"index"`
	GPUInstance     string `json:"gpu_instance"`
	ComputeInstance string `json:"compute_instance"`
	Multiprocessors int    `json:"multiprocessors"`
	Memory          Memory `json:"memory"`
}

// Errors counts ECC errors: volatile since the driver was loaded, aggregate over the life of the GPU.
type Errors struct {
	VolatileCorrected    *int `json:"volatile_corrected,omitempty"`
	VolatileUncorrected  *int `json:"volatile_uncorrected,omitempty"`
	AggregateCorrected   *int `json:"aggregate_corrected,omitempty"`
	AggregateUncorrected *int `json:"aggregate_uncorrected,omitempty"`
	SRAMThreshold        bool `json:"sram_threshold_exceeded,omitempty"`
	RetiredPages         *int `json:"retired_pages,omitempty"` // before Ampere
	RetirementPending    bool `json:"retirement_pending,omitempty"`
}

// RemappedRows is the state of row remapping, on Ampere and newer.
type RemappedRows struct {
	Correctable   *int `json:"correctable,omitempty"`
	Uncorrectable *int `json:"uncorrectable,omitempty"`
	Pending       bool `json:"pending,omitempty"` // takes effect at the next reset of the GPU
	Failure       bool `json:"failure,omitempty"` // no spare row was left: the GPU is to be replaced
}

// Clocks are in MHz.
type Clocks struct {
	SM        *float64 `json:"sm_mhz,omitempty"`
	SMMax     *float64 `json:"sm_max_mhz,omitempty"`
	Memory    *float64 `json:"memory_mhz,omitempty"`
	MemoryMax *float64 `json:"memory_max_mhz,omitempty"`
}

// PCIe is the state of the link to the host.
type PCIe struct {
	Generation    *int `json:"generation,omitempty"`
	GenerationMax *int `json:"generation_max,omitempty"`
	Width         *int `json:"width,omitempty"`
	WidthMax      *int `json:"width_max,omitempty"`
	Replays       *int `json:"replays,omitempty"`
}

// NVLink sums up the links of one GPU.
type NVLink struct {
	Active   int     `json:"active"`
	Inactive int     `json:"inactive"`
	GBps     float64 `json:"gb_per_second"` // of one active link, one direction
}

// SM is the compute capability as CUDA's architecture number, 90 for "9.0", or 0 when unknown.
func (g GPU) SM() int {
	major, minor, ok := strings.Cut(g.ComputeCapability, ".")
	high, err1 := strconv.Atoi(major)
	low, err2 := strconv.Atoi(minor)
	if !ok || err1 != nil || err2 != nil || high < 1 || high > 99 || low < 0 || low > 9 {
		return 0
	}
	return 10*high + low
}

// nothing lists the ways in which nvidia-smi says that it has nothing to say.
var nothing = []string{"", "n/a", "[n/a]", "[not supported]", "not supported", "[unknown error]", "unknown error", "[insufficient permissions]",
	"insufficient permissions", "none", "requested functionality has been deprecated", "[gpu requires reset]", "gpu requires reset", "err!"}

func isNothing(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, n := range nothing {
		if text == n {
			return true
		}
	}
	return false
}

// word is text, or "" when nvidia-smi has nothing to say.
func word(text string) string {
	if isNothing(text) {
		return ""
	}
	return clip(strings.TrimSpace(text), 200)
}

// number reads "1581 MiB", "114.39 W", "28 C", "16x" or "0 %", and is nil for anything else.
func number(text string) *float64 {
	text = strings.TrimSpace(text)
	end := 0
	for end < len(text) && strings.IndexByte("0123456789.-", text[end]) >= 0 {
		end++
	}
	value, err := strconv.ParseFloat(text[:end], 64)
	if err != nil || strings.HasPrefix(text, "0x") {
		return nil
	}
	return &value
}

// count is number as an int.
func count(text string) *int {
	value := number(text)
	if value == nil || *value < 0 || *value > 1<<53 {
		return nil
	}
	n := int(*value)
	return &n
}

// sum adds what is known, nil when nothing is.
func sum(counts ...*int) *int {
	var total *int
	for _, c := range counts {
		if c == nil {
			continue
		}
		if total == nil {
			total = new(int)
		}
		*total += *c
	}
	return total
}
