package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/rules/fact"
)

// dcgmFields say where a metric of dcgm-exporter goes.
var dcgmFields = map[string]func(g *GPU, value float64){
	"DCGM_FI_DEV_FB_USED":                     func(g *GPU, v float64) { g.Memory.UsedMiB = &v },
	"DCGM_FI_DEV_FB_FREE":                     func(g *GPU, v float64) { g.Memory.FreeMiB = &v },
	"DCGM_FI_DEV_FB_RESERVED":                 func(g *GPU, v float64) { g.Memory.ReservedMiB = &v },
	"DCGM_FI_DEV_FB_TOTAL":                    func(g *GPU, v float64) { g.Memory.TotalMiB = &v },
	"DCGM_FI_DEV_GPU_TEMP":                    func(g *GPU, v float64) { g.Temperature = &v },
	"DCGM_FI_DEV_POWER_USAGE":                 func(g *GPU, v float64) { g.Power = &v },
	"DCGM_FI_DEV_SM_CLOCK":                    func(g *GPU, v float64) { g.Clocks.SM = &v },
	"DCGM_FI_DEV_MEM_CLOCK":                   func(g *GPU, v float64) { g.Clocks.Memory = &v },
	"DCGM_FI_DEV_GPU_UTIL":                    func(g *GPU, v float64) { g.Utilization = &v },
	"DCGM_FI_DEV_XID_ERRORS":                  func(g *GPU, v float64) { g.LastXid = whole(v) },
	"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL":           func(g *GPU, v float64) { g.Errors.VolatileCorrected = whole(v) },
	"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL":           func(g *GPU, v float64) { g.Errors.VolatileUncorrected = whole(v) },
	"DCGM_FI_DEV_ECC_SBE_AGG_TOTAL":           func(g *GPU, v float64) { g.Errors.AggregateCorrected = whole(v) },
	"DCGM_FI_DEV_ECC_DBE_AGG_TOTAL":           func(g *GPU, v float64) { g.Errors.AggregateUncorrected = whole(v) },
	"DCGM_FI_DEV_RETIRED_PENDING":             func(g *GPU, v float64) { g.Errors.RetirementPending = v > 0 },
	"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS":   func(g *GPU, v float64) { g.Remapped.Correctable = whole(v) },
	"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": func(g *GPU, v float64) { g.Remapped.Uncorrectable = whole(v) },
	"DCGM_FI_DEV_ROW_REMAP_PENDING":           func(g *GPU, v float64) { g.Remapped.Pending = v > 0 },
	"DCGM_FI_DEV_ROW_REMAP_FAILURE":           func(g *GPU, v float64) { g.Remapped.Failure = v > 0 },
	"DCGM_FI_DEV_PCIE_REPLAY_COUNTER":         func(g *GPU, v float64) { g.PCIe.Replays = whole(v) },
	"DCGM_FI_DEV_PCIE_LINK_GEN":               func(g *GPU, v float64) { g.PCIe.Generation = whole(v) },
	"DCGM_FI_DEV_PCIE_LINK_WIDTH":             func(g *GPU, v float64) { g.PCIe.Width = whole(v) },
}

func whole(v float64) *int {
	n := int(v)
	return &n
}

func metricNames() []string {
	var names []string
	for name := range dcgmFields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// machinesOf puts the series of an answer together to machines, in the order of their names.
func machinesOf(all []series, at time.Time) []*Machine {
	byHost := map[string]*Machine{}
	for _, s := range all {
		host, index := s.host(), count(s.Metric["gpu"])
		set := dcgmFields[s.Metric["__name__"]]
		if host == "" || index == nil || set == nil || !s.Value.known {
			continue
		}
		m := byHost[host]
		if m == nil {
			m = &Machine{Taken: at, Source: fromPrometheus, Host: host}
			byHost[host] = m
		}
		m.Driver = cmp.Or(m.Driver, clip(s.Metric["DCGM_FI_DRIVER_VERSION"], 40))
		g := m.gpu(*index, s.Metric)
		if s.Metric["GPU_I_ID"] != "" { // what a MIG device uses is not the GPU's
			g.MIG = "Enabled"
			continue
		}
		set(g, s.Value.value)
	}
	var machines []*Machine
	for _, m := range byHost {
		for i := range m.GPUs {
			m.GPUs[i].total()
		}
		slices.SortFunc(m.GPUs, func(a, b GPU) int { return a.Index - b.Index })
		machines = append(machines, m)
	}
	slices.SortFunc(machines, func(a, b *Machine) int { return strings.Compare(a.Host, b.Host) })
	return machines
}

// gpu is the GPU of that number, made of a series' labels when it is new.
func (m *Machine) gpu(index int, labels map[string]string) *GPU {
	at := slices.IndexFunc(m.GPUs, func(g GPU) bool { return g.Index == index })
	if at < 0 {
		m.GPUs = append(m.GPUs, GPU{Index: index, Name: clip(labels["modelName"], 200), UUID: clip(cmp.Or(labels["UUID"], labels["uuid"]), 100),
			Bus: clip(labels["pci_bus_id"], 40)})
		at = len(m.GPUs) - 1
	}
	return &m.GPUs[at]
}

// total adds up the GPU's memory where the exporter does not give the sum.
func (g *GPU) total() {
	if g.Memory.TotalMiB == nil && g.Memory.UsedMiB != nil && g.Memory.FreeMiB != nil {
		sum := *g.Memory.UsedMiB + *g.Memory.FreeMiB + known(g.Memory.ReservedMiB)
		g.Memory.TotalMiB = &sum
	}
}

// meant picks, among machines with the short names of the hosts, those that the log meant: of several with the same short name only
// the one whose full name the log gives. Where it gives none, none can be meant for certain.
func meant(machines []*Machine, hosts []string) (chosen []*Machine, ambiguous string) {
	for _, host := range hosts {
		var same, exact []*Machine
		for _, m := range machines {
			if strings.EqualFold(shortName(m.Host), shortName(host)) {
				same = append(same, m)
			}
			if strings.EqualFold(m.Host, host) {
				exact = append(exact, m)
			}
		}
		switch {
		case len(exact) == 1:
			chosen = append(chosen, exact[0])
		case len(same) == 1:
			chosen = append(chosen, same[0])
		case len(same) > 1:
			ambiguous = host
		}
	}
	slices.SortFunc(chosen, func(a, b *Machine) int { return strings.Compare(a.Host, b.Host) })
	return slices.Compact(chosen), ambiguous
}

// Fleet tells what several machines have in common, and what is wrong with any of them.
func Fleet(machines []*Machine, vocabulary *fact.Vocabulary) []facts.Fact {
	if len(machines) == 0 {
		return nil
	}
	common := machines[0].Known(vocabulary)
	for _, m := range machines[1:] {
		theirs := m.Known(vocabulary)
		common = slices.DeleteFunc(common, func(f facts.Fact) bool {
			return !slices.ContainsFunc(theirs, func(g facts.Fact) bool { return g.Name == f.Name && g.Value.Equal(f.Value) })
		})
	}
	if len(machines) == 1 {
		return common
	}
	all := &Machine{Source: fromPrometheus, Host: fmt.Sprintf("%s and %d more", machines[0].Host, len(machines)-1)}
	for _, m := range machines {
		for _, x := range m.Xids {
			x.Host = m.Host
			all.Xids = append(all.Xids, x)
		}
		for _, g := range m.GPUs {
			g.Host = m.Host
			all.GPUs = append(all.GPUs, g)
		}
	}
	for _, f := range all.Known(vocabulary) {
		if f.Name == "gpu_trouble" || strings.HasPrefix(f.Name, "xid") {
			common = slices.DeleteFunc(common, func(c facts.Fact) bool { return c.Name == f.Name })
			common = append(common, f)
		}
	}
	return common
}
