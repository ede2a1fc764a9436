package report

import "slices"

// Fix is something to do. Run are its commands, and Kind says what they are written in: "sh", "python", "flag" (words for a command line),
// "config" (lines of a configuration) or "text" (words for a person). Where they are not all of one kind, Kinds has one for each, and Kind is
// "text", for nothing takes them all. Set holds the fact changes that the fix makes; Verified says that the backend rules say yes after them.
type Fix struct {
	Do       string         `json:"do"`
	Run      []string       `json:"run"`
	Kind     string         `json:"kind,omitempty"`
	Kinds    []string       `json:"kinds,omitempty"`
	Set      map[string]any `json:"set,omitempty"`
	Verified bool           `json:"verified"`
	Effect   string         `json:"effect,omitempty"`
	Loses    string         `json:"loses,omitempty"`
	Cost     int            `json:"cost,omitempty"`
}

// mixed is the kind of commands of several kinds.
const mixed = "text"

// Add adds a command.
func (f *Fix) Add(kind, command string) {
	switch {
	case len(f.Run) == 0:
		f.Kind = kind
	case len(f.Kinds) > 0:
		f.Kinds = append(f.Kinds, kind)
	case f.Kind != kind:
		f.Kinds = append(slices.Repeat([]string{f.Kind}, len(f.Run)), kind)
		f.Kind = mixed
	}
	f.Run = append(f.Run, command)
}

// Commands are those of a fix that follow each other and are of one kind, so that they can be shown and copied together.
type Commands struct {
	Kind string // "" in a report that is older than kinds
	Run  []string
}

// Commands are the fix's commands, in their order.
func (f *Fix) Commands() []Commands {
	var all []Commands
	for i, command := range f.Run {
		kind := f.Kind
		if i < len(f.Kinds) {
			kind = f.Kinds[i]
		}
		if last := len(all) - 1; last >= 0 && all[last].Kind == kind {
			all[last].Run = append(all[last].Run, command)
			continue
		}
		all = append(all, Commands{Kind: kind, Run: []string{command}})
	}
	return all
}

// remove takes out the commands that are not to be shown.
func (f *Fix) remove(hidden func(command string) bool) {
	kept := Fix{Run: []string{}}
	for _, c := range f.Commands() {
		for _, command := range c.Run {
			if !hidden(command) {
				kept.Add(c.Kind, command)
			}
		}
	}
	f.Run, f.Kind, f.Kinds = kept.Run, kept.Kind, kept.Kinds
}
