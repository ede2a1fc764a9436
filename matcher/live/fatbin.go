package live

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// The container in which nvcc puts device code: a header, then entries, each with a header of its own that says for which
// architecture it is. Entries may be compressed, their headers never are. Source: the layout that cuobjdump lists.
const (
	fatMagic      = 0xBA55ED50
	fatHeader     = 16
	entryHeader   = 32
	kindPTX       = 1
	kindCubin     = 2
	maxEntries    = 400_000
	enoughEntries = 40_000 // entries without a new architecture after which the rest is taken to be alike
)

// architectures lists what the device code in the shared library at path was built for: "sm_90" for machine code and
// "compute_90" for PTX, which a newer GPU can still translate. It reads a few bytes of each entry only.
func architectures(path string) ([]string, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	found := map[string]bool{}
	sections := 0
	for _, section := range file.Sections {
		if section.Name != ".nv_fatbin" && section.Name != "__nv_relfatbin" {
			continue
		}
		sections++
		if err := scanFatbins(section.ReaderAt, int64(section.FileSize), found); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if sections == 0 {
		return nil, fmt.Errorf("%s holds no device code", path)
	}
	var list []string
	for name := range found {
		list = append(list, name)
	}
	slices.SortFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return slices.Compare([]byte(a), []byte(b))
	})
	return list, nil
}

func scanFatbins(r io.ReaderAt, size int64, found map[string]bool) error {
	var header [fatHeader]byte
	entries, unchanged := 0, 0
	for at := int64(0); at+fatHeader <= size; {
		if _, err := r.ReadAt(header[:], at); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(header[:]) != fatMagic {
			at += 8 // padding
			if entries++; entries > maxEntries {
				return nil
			}
			continue
		}
		body := at + int64(binary.LittleEndian.Uint16(header[6:]))
		end := body + int64(binary.LittleEndian.Uint64(header[8:])&(1<<40-1))
		for entry := body; entry+entryHeader <= min(end, size); {
			next, name, err := readEntry(r, entry)
			if err != nil || next <= entry {
				return err
			}
			entry = next
			unchanged++
			if name != "" && !found[name] {
				found[name], unchanged = true, 0
			}
			if entries++; entries > maxEntries || unchanged > enoughEntries {
				return nil
			}
		}
		at = max(end, at+8)
		at = (at + 7) &^ 7
	}
	return nil
}

// readEntry reads one entry's header: where the next one starts, and the architecture, "" for an entry that is no code.
func readEntry(r io.ReaderAt, at int64) (next int64, name string, err error) {
	var h [entryHeader]byte
	if _, err := r.ReadAt(h[:], at); err != nil {
		return 0, "", err
	}
	arch := binary.LittleEndian.Uint32(h[28:])
	if arch >= 10 && arch < 1000 {
		switch binary.LittleEndian.Uint16(h[:]) {
		case kindCubin:
			name = fmt.Sprintf("sm_%d", arch)
		case kindPTX:
			name = fmt.Sprintf("compute_%d", arch)
		}
	}
	size := int64(binary.LittleEndian.Uint64(h[8:]) & (1<<40 - 1))
	return at + int64(binary.LittleEndian.Uint32(h[4:])) + size, name, nil
}
