package live

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// smiLog is the part of `nvidia-smi -q -x` that is read. The element names are those of nvsmi_device_v11.dtd (drivers 470 to
// 530), v12 (535 to 570) and v13 (575 and newer); where a name changed, both are here.
type smiLog struct {
	XMLName xml.Name `xml:"nvidia_smi_log"`
	Driver  string   `xml:"driver_version"`
	CUDA    string   `xml:"cuda_version"`
	GPUs    []smiGPU `xml:"gpu"`
}

type smiGPU struct {
	Bus          string    `xml:"id,attr"`
	Name         string    `xml:"product_name"`
	Architecture string    `xml:"product_architecture"`
	UUID         string    `xml:"uuid"`
	MIG          string    `xml:"mig_mode>current_mig"`
	MIGDevices   []smiMIG  `xml:"mig_devices>mig_device"`
	Recovery     string    `xml:"gpu_recovery_action"`
	ResetNeeded  string    `xml:"gpu_reset_status>reset_required"`
	State        string    `xml:"performance_state"`
	Memory       smiMemory `xml:"fb_memory_usage"`
	Utilization  string    `xml:"utilization>gpu_util"`
	ComputeMode  string    `xml:"compute_mode"`
	ECC          string    `xml:"ecc_mode>current_ecc"`
	Volatile     smiECC    `xml:"ecc_errors>volatile"`
	Aggregate    smiECC    `xml:"ecc_errors>aggregate"`
	RetiredSBE   string    `xml:"retired_pages>multiple_single_bit_retirement>retired_count"`
	RetiredDBE   string    `xml:"retired_pages>double_bit_retirement>retired_count"`
	RetirePend   string    `xml:"retired_pages>pending_retirement"`
	RemapCorr    string    `xml:"remapped_rows>remapped_row_corr"`
	RemapUncorr  string    `xml:"remapped_rows>remapped_row_unc"`
	RemapPending string    `xml:"remapped_rows>remapped_row_pending"`
	RemapFailure string    `xml:"remapped_rows>remapped_row_failure"`
	Temperature  string    `xml:"temperature>gpu_temp"`
	PowerOld     smiPower  `xml:"power_readings"`
	Power        smiPower  `xml:"gpu_power_readings"`
	SM           string    `xml:"clocks>sm_clock"`
	MemClock     string    `xml:"clocks>mem_clock"`
	SMMax        string    `xml:"max_clocks>sm_clock"`
	MemClockMax  string    `xml:"max_clocks>mem_clock"`
	Slowdowns    smiFlags  `xml:"clocks_event_reasons"`
	SlowdownsOld smiFlags  `xml:"clocks_throttle_reasons"`
	PCIeGen      string    `xml:"pci>pci_gpu_link_info>pcie_gen>current_link_gen"`
	PCIeGenMax   string    `xml:"pci>pci_gpu_link_info>pcie_gen>max_link_gen"`
	PCIeWidth    string    `xml:"pci>pci_gpu_link_info>link_widths>current_link_width"`
	PCIeWidthMax string    `xml:"pci>pci_gpu_link_info>link_widths>max_link_width"`
	Replays      string    `xml:"pci>replay_counter"`
	Fabric       string    `xml:"fabric>state"`
	Processes    []smiProc `xml:"processes>process_info"`
}

type smiMemory struct {
	Total    string `xml:"total"`
	Reserved string `xml:"reserved"`
	Used     string `xml:"used"`
	Free     string `xml:"free"`
}

type smiMIG struct {
	Index           string    `xml:"index"`
	GPUInstance     string    `xml:"gpu_instance_id"`
	ComputeInstance string    `xml:"compute_instance_id"`
	Multiprocessors string    `xml:"device_attributes>shared>multiprocessor_count"`
	Memory          smiMemory `xml:"fb_memory_usage"`
}

// smiECC has the counters of Ampere and newer, and the totals of what came before.
type smiECC struct {
	SRAMCorrected   string `xml:"sram_correctable"`
	SRAMUncorrected string `xml:"sram_uncorrectable"`
	SRAMParity      string `xml:"sram_uncorrectable_parity"`
	SRAMSECDED      string `xml:"sram_uncorrectable_secded"`
	DRAMCorrected   string `xml:"dram_correctable"`
	DRAMUncorrected string `xml:"dram_uncorrectable"`
	Threshold       string `xml:"sram_threshold_exceeded"`
	SingleBitTotal  string `xml:"single_bit>total"`
	DoubleBitTotal  string `xml:"double_bit>total"`
}

type smiPower struct {
	Draw         string `xml:"power_draw"`
	Average      string `xml:"average_power_draw"`
	Instant      string `xml:"instant_power_draw"`
	Limit        string `xml:"power_limit"`
	CurrentLimit string `xml:"current_power_limit"`
}

type smiProc struct {
	PID      string `xml:"pid"`
	Type     string `xml:"type"`
	Name     string `xml:"process_name"`
	Memory   string `xml:"used_memory"`
	Instance string `xml:"gpu_instance_id"`
}

// smiFlags are elements that say "Active" or "Not Active".
type smiFlags struct {
	Flags []struct {
		XMLName xml.Name
		Value   string `xml:",chardata"`
	} `xml:",any"`
}

// parseSMI reads the XML of `nvidia-smi -q -x`: the driver, the newest CUDA it supports, and the GPUs in nvidia-smi's order.
// What could be read before an error is returned with it.
func parseSMI(data []byte) (driver, cuda string, gpus []GPU, err error) {
	start := bytes.IndexByte(data, '<') // some drivers print warnings first
	if start < 0 {
		return "", "", nil, fmt.Errorf("nvidia-smi -q -x printed no XML but %q", firstLine(data))
	}
	decoder := xml.NewDecoder(bytes.NewReader(data[start:]))
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	var log smiLog
	if err := decoder.Decode(&log); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return "", "", nil, fmt.Errorf("nvidia-smi -q -x printed XML that cannot be read: %w", err)
	}
	for i, g := range log.GPUs {
		gpus = append(gpus, g.gpu(i))
	}
	return word(log.Driver), word(log.CUDA), gpus, nil
}

func (g smiGPU) gpu(index int) GPU {
	power := g.Power
	if power == (smiPower{}) {
		power = g.PowerOld
	}
	slow := g.Slowdowns
	if len(slow.Flags) == 0 {
		slow = g.SlowdownsOld
	}
	gpu := GPU{
		Index: index, Name: word(g.Name), UUID: word(g.UUID), Bus: word(g.Bus), Architecture: word(g.Architecture),
		Memory: g.Memory.memory(), MIG: word(g.MIG), ECC: word(g.ECC), Recovery: g.recovery(), State: word(g.State),
		Errors: g.errors(),
		Remapped: RemappedRows{Correctable: count(g.RemapCorr), Uncorrectable: count(g.RemapUncorr),
			Pending: yes(g.RemapPending), Failure: yes(g.RemapFailure)},
		Slowdowns:   slow.active(),
		Clocks:      Clocks{SM: number(g.SM), SMMax: number(g.SMMax), Memory: number(g.MemClock), MemoryMax: number(g.MemClockMax)},
		Temperature: number(g.Temperature), Power: number(power.Draw), PowerLimit: number(power.CurrentLimit),
		Utilization: number(g.Utilization), ComputeMode: word(g.ComputeMode), Fabric: word(g.Fabric),
		PCIe: PCIe{Generation: count(g.PCIeGen), GenerationMax: count(g.PCIeGenMax), Width: count(g.PCIeWidth),
			WidthMax: count(g.PCIeWidthMax), Replays: count(g.Replays)},
	}
	gpu.Power = cmp.Or(number(power.Instant), number(power.Draw), number(power.Average))
	gpu.PowerLimit = cmp.Or(number(power.CurrentLimit), number(power.Limit))
	for _, m := range g.MIGDevices {
		device := MIGDevice{GPUInstance: word(m.GPUInstance), ComputeInstance: word(m.ComputeInstance), Memory: m.Memory.memory()}
		if n := count(m.Index); n != nil {
			device.Index = *n
		}
		if n := count(m.Multiprocessors); n != nil {
			device.Multiprocessors = *n
		}
		gpu.MIGDevices = append(gpu.MIGDevices, device)
	}
	for _, p := range g.Processes {
		if pid := count(p.PID); pid != nil {
			gpu.Processes = append(gpu.Processes, Process{PID: *pid, Type: word(p.Type), Name: word(p.Name),
				MemoryMiB: number(p.Memory), Instance: word(p.Instance)})
		}
	}
	return gpu
}

func (g smiGPU) recovery() string {
	if strings.EqualFold(strings.TrimSpace(g.Recovery), "none") {
		return "None" // here it is an answer
	}
	if r := word(g.Recovery); r != "" {
		return r
	}
	if yes(g.ResetNeeded) { // drivers 535 to 560
		return "GPU Reset"
	}
	return ""
}

func (g smiGPU) errors() Errors {
	return Errors{
		VolatileCorrected:    g.Volatile.corrected(),
		VolatileUncorrected:  g.Volatile.uncorrected(),
		AggregateCorrected:   g.Aggregate.corrected(),
		AggregateUncorrected: g.Aggregate.uncorrected(),
		SRAMThreshold:        yes(g.Aggregate.Threshold),
		RetiredPages:         sum(count(g.RetiredSBE), count(g.RetiredDBE)),
		RetirementPending:    yes(g.RetirePend),
	}
}

func (e smiECC) corrected() *int {
	return sum(count(e.SRAMCorrected), count(e.DRAMCorrected), count(e.SingleBitTotal))
}

func (e smiECC) uncorrected() *int {
	return sum(count(e.SRAMUncorrected), count(e.SRAMParity), count(e.SRAMSECDED), count(e.DRAMUncorrected), count(e.DoubleBitTotal))
}

func (m smiMemory) memory() Memory {
	return Memory{TotalMiB: number(m.Total), UsedMiB: number(m.Used), FreeMiB: number(m.Free), ReservedMiB: number(m.Reserved)}
}

// active lists the reasons that hold the clocks down, as "sw power cap". Idleness is no reason to tell.
func (f smiFlags) active() []string {
	var active []string
	for _, flag := range f.Flags {
		name := flag.XMLName.Local
		name = strings.TrimPrefix(name, "clocks_event_reason_")
		name = strings.TrimPrefix(name, "clocks_throttle_reason_")
		if strings.EqualFold(strings.TrimSpace(flag.Value), "active") && name != "gpu_idle" {
			active = append(active, strings.ReplaceAll(name, "_", " "))
		}
	}
	return active
}

func yes(text string) bool { return strings.EqualFold(strings.TrimSpace(text), "yes") }
