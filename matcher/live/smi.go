package live

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// smiFields are asked for by `nvidia-smi --query-gpu`. The XML lacks the compute capability, and an nvidia-smi whose XML cannot be
// read still tells the most important things this way.
var smiFields = []string{"index", "name", "uuid", "pci.bus_id", "driver_version", "compute_cap", "memory.total", "memory.used",
	"memory.free", "temperature.gpu", "ecc.errors.uncorrected.volatile.total", "mig.mode.current"}

// unknownField is how nvidia-smi names a field that its driver does not have; compute_cap came with 510.
var unknownField = regexp.MustCompile(`Field "([^"]+)" is not a valid field`)

// readGPUs asks nvidia-smi, and tells what went wrong for each of the questions that it did not answer.
func (s *system) readGPUs(ctx context.Context, m *Machine) error {
	table, tableErr := s.queryCSV(ctx)
	if errors.Is(tableErr, exec.ErrNotFound) || errors.Is(tableErr, errNoAnswer) {
		return tableErr // the second question would end alike, after another time limit
	}
	out, err := s.program(ctx, "nvidia-smi", "-q", "-x")
	if err == nil {
		m.Driver, m.CUDA, m.GPUs, err = parseSMI(out)
	}
	m.GPUs = mergeCSV(m, table)
	if err != nil && len(table) == 0 {
		if tableErr == nil || strings.HasSuffix(tableErr.Error(), err.Error()) {
			return err
		}
		return fmt.Errorf("%w; %w", tableErr, err)
	}
	if len(m.GPUs) > 0 {
		s.readNVLink(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("%w; only the short form could be read", err)
	}
	if tableErr != nil {
		return tableErr
	}
	return nil
}

// queryCSV asks for smiFields, leaving out those that this driver does not know. Each row maps a field to its value.
func (s *system) queryCSV(ctx context.Context) ([]map[string]string, error) {
	fields := slices.Clone(smiFields)
	for len(fields) > 0 {
		out, err := s.program(ctx, "nvidia-smi", "--query-gpu="+strings.Join(fields, ","), "--format=csv,noheader")
		if err == nil {
			return parseCSV(out, fields)
		}
		unknown := unknownField.FindSubmatch(out)
		if unknown == nil {
			unknown = unknownField.FindSubmatch([]byte(err.Error()))
		}
		if unknown == nil || !slices.Contains(fields, string(unknown[1])) {
			return nil, err
		}
		fields = slices.DeleteFunc(fields, func(f string) bool { return f == string(unknown[1]) })
	}
	return nil, errors.New("nvidia-smi knows none of the fields that were asked for")
}

func parseCSV(data []byte, fields []string) ([]map[string]string, error) {
	reader := csv.NewReader(strings.NewReader(string(data)))
	reader.TrimLeadingSpace, reader.LazyQuotes, reader.FieldsPerRecord = true, true, -1
	var rows []map[string]string
	for len(rows) < 1024 {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || len(record) != len(fields) || count(record[0]) == nil {
			return rows, fmt.Errorf("nvidia-smi --query-gpu printed no table but %q", firstLine(data))
		}
		row := map[string]string{}
		for i, field := range fields {
			row[field] = strings.TrimSpace(record[i])
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// mergeCSV adds what the table knows to the GPUs that the XML told, or makes them when it told none.
func mergeCSV(m *Machine, rows []map[string]string) []GPU {
	gpus := m.GPUs
	for _, row := range rows {
		m.Driver = cmp.Or(m.Driver, word(row["driver_version"]))
		at := slices.IndexFunc(gpus, func(g GPU) bool { return g.UUID != "" && g.UUID == row["uuid"] || sameBus(g.Bus, row["pci.bus_id"]) })
		if at < 0 {
			gpus = append(gpus, GPU{Index: *count(row["index"]), Name: word(row["name"]), UUID: word(row["uuid"]), Bus: word(row["pci.bus_id"]),
				Memory:      Memory{TotalMiB: number(row["memory.total"]), UsedMiB: number(row["memory.used"]), FreeMiB: number(row["memory.free"])},
				Temperature: number(row["temperature.gpu"]), MIG: word(row["mig.mode.current"]),
				Errors: Errors{VolatileUncorrected: count(row["ecc.errors.uncorrected.volatile.total"])}})
			at = len(gpus) - 1
		}
		gpus[at].Index = *count(row["index"])
		gpus[at].ComputeCapability = word(row["compute_cap"])
	}
	return gpus
}

// sameBus compares PCI addresses, whose domain is printed with four or eight digits and whose function is left out in kernel lines.
func sameBus(a, b string) bool {
	a, b = normalBus(a), normalBus(b)
	return a != "" && a == b
}

func normalBus(bus string) string {
	bus = strings.ToLower(strings.TrimSpace(bus))
	bus, _, _ = strings.Cut(bus, ".")
	parts := strings.Split(bus, ":")
	if len(parts) != 3 {
		return ""
	}
	parts[0] = strings.TrimLeft(parts[0], "0")
	return strings.Join(parts, ":")
}

var (
	nvlinkGPU  = regexp.MustCompile(`^GPU \d+:.*\(UUID: ([^)]+)\)`)
	nvlinkLink = regexp.MustCompile(`^Link \d+: (?:([\d.]+) GB/s|<inactive>)`)
)

// readNVLink counts the links of each GPU. GPUs without NVLink are left alone, and so is a failure: the question is optional.
func (s *system) readNVLink(ctx context.Context, m *Machine) {
	out, err := s.program(ctx, "nvidia-smi", "nvlink", "-s")
	if err != nil {
		return
	}
	var gpu *GPU
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if header := nvlinkGPU.FindStringSubmatch(line); header != nil {
			at := slices.IndexFunc(m.GPUs, func(g GPU) bool { return g.UUID == header[1] })
			gpu = nil
			if at >= 0 {
				gpu = &m.GPUs[at]
			}
		}
		link := nvlinkLink.FindStringSubmatch(line)
		if gpu == nil || link == nil {
			continue
		}
		if gpu.NVLink == nil {
			gpu.NVLink = &NVLink{}
		}
		if speed := number(link[1]); speed != nil {
			gpu.NVLink.Active++
			gpu.NVLink.GBps = *speed
		} else {
			gpu.NVLink.Inactive++
		}
	}
}
