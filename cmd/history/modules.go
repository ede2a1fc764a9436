package main

import (
	"bufio"
	"bytes"
	"net/textproto"
	"strings"

	"github.com/gpu-triage/triage/rules/history"
	"github.com/gpu-triage/triage/rules/history/table"
)

// modulesOf are the modules of a release with what they declare.
func modulesOf(p *pack, d history.Listing, known map[member][]table.Record) map[string]map[table.Record]bool {
	modules := make(map[string]map[table.Record]bool)
	ensure := func(name string) map[table.Record]bool {
		for at := name; ; {
			if modules[at] == nil {
				modules[at] = make(map[table.Record]bool)
			}
			dot := strings.LastIndexByte(at, '.')
			if dot < 0 {
				return modules[name]
			}
			at = at[:dot]
		}
	}
	sources, stubs := make(map[string]bool), make(map[string][]table.Record)
	for _, m := range p.Members {
		place := placeOf(m.Path, d.Roots)
		switch {
		case place.module == "":
		case place.skipped:
			ensure(place.module)[table.Record{Kind: table.Open, Arg: "not kept"}] = true
		case place.native:
			ensure(place.module)[table.Record{Kind: table.Open, Arg: "native"}] = true
		case place.stub:
			stubs[place.module] = known[m]
		default:
			sources[place.module] = true
			records := ensure(place.module)
			for _, r := range known[m] {
				records[r] = true
			}
		}
	}
	for module, stub := range stubs {
		addStub(ensure(module), stub, sources[module])
	}
	for module, records := range modules {
		if !strings.Contains(module, ".") && !sources[module] && len(records) == 0 {
			records[table.Record{Kind: table.Open, Arg: "namespace"}] = true // other distributions may have parts of it
		}
	}
	return modules
}

// addStub adds what a stub file declares: all of it for an extension module, names alone beside a source with computed names.
func addStub(records map[table.Record]bool, stub []table.Record, source bool) {
	open := false
	for r := range records {
		open = open || r.Kind == table.Open || r.Kind == table.Star || r.Kind == table.OpenAll
	}
	if source && !open {
		return
	}
	if !source {
		records[table.Record{Kind: table.Open, Arg: "native"}] = true
	}
	for _, r := range stub {
		switch {
		case r.Kind == table.Star && !source:
			records[r] = true
		case r.Name == "" || r.Kind == table.Typing || r.Kind == table.Exported:
		case !source && r.Kind != table.Import:
			records[r] = true
		case source && !strings.Contains(r.Name, "."):
			records[table.Record{Kind: table.Stub, Name: r.Name}] = true
		}
	}
}

// metadata reads Requires-Python and Requires-Dist.
func metadata(text []byte) (python string, requires []string) {
	header, _, _ := bytes.Cut(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	fields, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(header, "\n\n"...)))).ReadMIMEHeader()
	if err != nil && len(fields) == 0 {
		return "", nil
	}
	return fields.Get("Requires-Python"), fields.Values("Requires-Dist")
}
