package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/live"
)

// printGPU tells what nvidia-smi tells of one GPU, in a few lines. What the GPU or its driver does not say is left out.
func printGPU(out io.Writer, gpu live.GPU) {
	fmt.Fprintln(out, join("  ", fmt.Sprintf("GPU %d", gpu.Index), gpu.Name, given("sm_%d", gpu.SM()), gpu.Bus, gpu.UUID))
	line := func(name string, parts ...string) {
		if text := join(", ", parts...); text != "" {
			fmt.Fprintf(out, "  %-9s %s\n", name, text)
		}
	}
	m, c, e, r, p := gpu.Memory, gpu.Clocks, gpu.Errors, gpu.Remapped, gpu.PCIe
	line("memory", of("%.1f of %.1f GiB used", mebi(m.UsedMiB), mebi(m.TotalMiB)))
	for _, process := range gpu.Processes {
		line("", join(" ", fmt.Sprintf("%s (pid %d)", process.Name, process.PID), value("holds %.2f GiB", mebi(process.MemoryMiB))))
	}
	line("state", gpu.State, value("%.0f °C", gpu.Temperature), of("%.0f of %.0f W", gpu.Power, gpu.PowerLimit), value("%.0f %% busy", gpu.Utilization))
	line("clocks", of("SM %.0f of %.0f MHz", c.SM, c.SMMax), of("memory %.0f of %.0f MHz", c.Memory, c.MemoryMax),
		given("held down by: %s", strings.Join(gpu.Slowdowns, ", ")))
	line("ECC", strings.ToLower(gpu.ECC), of("%d corrected and %d uncorrected errors", e.VolatileCorrected, e.VolatileUncorrected),
		of("%d and %d in its life", e.AggregateCorrected, e.AggregateUncorrected), of("%d and %d rows remapped", r.Correctable, r.Uncorrectable),
		value("%d pages retired", e.RetiredPages), given("recovery action: %s", gpu.Recovery))
	line("PCIe", of("generation %d of %d", p.Generation, p.GenerationMax), of("%d of %d lanes", p.Width, p.WidthMax), value("%d replays", p.Replays))
	if gpu.NVLink != nil {
		line("NVLink", fmt.Sprintf("%d links of %.1f GB/s up, %d down", gpu.NVLink.Active, gpu.NVLink.GBps, gpu.NVLink.Inactive), given("fabric: %s", gpu.Fabric))
	}
	line("MIG", strings.ToLower(gpu.MIG))
	for _, device := range gpu.MIGDevices {
		line("", fmt.Sprintf("device %d (instance %s/%s): %d multiprocessors", device.Index, device.GPUInstance, device.ComputeInstance, device.Multiprocessors),
			of("%.1f of %.1f GiB used", mebi(device.Memory.UsedMiB), mebi(device.Memory.TotalMiB)))
	}
	for _, trouble := range gpu.Trouble() {
		line("TROUBLE", trouble)
	}
}

// printEvents tells what the kernel said of GPUs and memory, the newest last.
func printEvents(out io.Writer, machine *live.Machine) {
	for _, xid := range machine.Xids {
		fmt.Fprintln(out, join("  ", moment(xid.Time), xid.String()))
	}
	for _, kill := range machine.OOMKills {
		fmt.Fprintln(out, join("  ", moment(kill.Time), "killed for memory: "+kill.String()))
	}
	if len(machine.Xids)+len(machine.OOMKills) > 0 {
		fmt.Fprintln(out)
	}
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02 15:04:05")
}

// join joins the parts that say something.
func join(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), separator)
}

// value formats what is known, else it says nothing.
func value[T any](format string, v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(format, *v)
}

// of formats two values where both are known, else it says nothing.
func of[T any](format string, a, b *T) string {
	if a == nil || b == nil {
		return ""
	}
	return fmt.Sprintf(format, *a, *b)
}

// given formats what is not the zero value, else it says nothing.
func given[T comparable](format string, v T) string {
	var zero T
	if v == zero {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// mebi turns MiB into GiB.
func mebi(mib *float64) *float64 {
	if mib == nil {
		return nil
	}
	gib := *mib / 1024
	return &gib
}
