package history

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/history/table"
)

// isClass tells whether what was found is a class of the package.
func (p *Package) isClass(f found, i int) bool {
	m := p.module(f.module, i)
	return m != nil && slices.ContainsFunc(entries(m, f.name, i), func(e table.Entry) bool { return e.Kind == table.Class })
}

// inClass is a member of a class, its own or inherited.
func (p *Package) inClass(class found, name string, i, depth int) found {
	if depth > maxDepth {
		return found{presence: Unknown}
	}
	m := p.module(class.module, i)
	own := class.name + "." + name
	for _, e := range entries(m, own, i) {
		switch e.Kind {
		case table.Member, table.Attribute, table.Field, table.Instance, table.Class, table.Value:
			return found{presence: Present, module: class.module, name: own}
		}
	}
	answer := found{presence: Absent}
	for _, e := range entries(m, class.name, i) {
		if e.Kind == table.Open {
			answer.presence = Unknown
		}
	}
	bases, outside := p.bases(class, i, depth)
	for _, base := range outside {
		has, known := inherits(base, name)
		if has {
			return found{presence: Present}
		}
		if !known {
			answer.presence = Unknown
		}
	}
	for _, base := range bases {
		f := p.inClass(base, name, i, depth+1)
		if f.presence == Present {
			return f
		}
		if f.presence == Unknown {
			answer = f
		}
	}
	if answer.presence == Absent && slices.Contains(ofObject, name) {
		return found{presence: Present}
	}
	return answer
}

// bases are the base classes of a class: those inside the package, and the full names of the others.
func (p *Package) bases(class found, i, depth int) (bases []found, outside []string) {
	m := p.module(class.module, i)
	for _, e := range entries(m, class.name, i) {
		if e.Kind != table.Class || e.Arg == "" {
			continue
		}
		for base := range strings.SplitSeq(e.Arg, ",") {
			if strings.HasPrefix(base, "@") || base == "object" {
				continue
			}
			f := p.inNamespace(class.module, base, i, depth+1)
			if f.presence == Present && f.module != "" && f.name != "" && p.isClass(f, i) && f != class {
				bases = append(bases, f)
				continue
			}
			outside = append(outside, p.fullName(class.module, base, i))
		}
	}
	return bases, outside
}

// inNamespace is what a dotted expression in a module stands for.
func (p *Package) inNamespace(module, dotted string, i, depth int) found {
	at := found{presence: Present, module: module}
	for part := range strings.SplitSeq(dotted, ".") {
		if at.presence != Present || at.module == "" {
			return found{presence: Unknown}
		}
		at = p.member(at, part, i, depth+1)
	}
	return at
}

// ofObject are the attributes of every class that programs use.
var ofObject = strings.Fields("__class__ __dict__ __doc__ __module__ __name__ __qualname__ __repr__ __str__ __eq__ __ne__ __hash__ " +
	"__init__ __new__ __init_subclass__ __subclasshook__ __getattribute__ __setattr__ __delattr__ __dir__ __reduce__ __reduce_ex__ " +
	"__sizeof__ __format__ __lt__ __le__ __gt__ __ge__ __bases__ __mro__ __subclasses__ mro __weakref__ __annotations__")

// parameter tells whether a function, a method, or the constructor of a class takes a parameter by name.
func (p *Package) parameter(f found, parameter string, i, depth int) Presence {
	if f.module == "" || f.name == "" || depth > maxDepth {
		return Unknown
	}
	m := p.module(f.module, i)
	if m == nil {
		return Unknown
	}
	if p.isClass(f, i) {
		return p.constructor(f, parameter, i, depth)
	}
	answer, known := Absent, false
	for _, e := range entries(m, f.name, i) {
		switch e.Kind {
		case table.Function, table.Member:
			known = true
			switch takes(e.Arg, parameter) {
			case Present:
				return Present
			case Unknown:
				answer = Unknown
			}
		case table.Renamed:
			if old, _, _ := strings.Cut(e.Arg, ">"); old == parameter {
				return Present
			}
		}
	}
	if !known {
		return Unknown
	}
	return answer
}

// constructor is parameter for a class: its own __init__ or __new__, the fields of a dataclass, or what it inherits.
func (p *Package) constructor(class found, parameter string, i, depth int) Presence {
	m := p.module(class.module, i)
	if m == nil || depth > maxDepth {
		return Unknown
	}
	for _, method := range []string{"__init__", "__new__"} {
		if own := class.name + "." + method; hasEntryAt(m, own, i, table.Member) {
			return p.parameter(found{presence: Present, module: class.module, name: own}, parameter, i, depth+1)
		}
	}
	if hasEntryAt(m, class.name+"."+parameter, i, table.Field) {
		return Present
	}
	bases, outside := p.bases(class, i, depth)
	if p.isDataclass(class, i) {
		return p.fields(bases, outside, parameter, i, depth)
	}
	answer := Absent
	for _, base := range bases {
		answer = p.constructor(base, parameter, i, depth+1)
		if answer != Absent || p.isConstructed(base, i, depth+1) {
			return answer
		}
	}
	for _, base := range outside {
		if attributes, known := elsewhere()[base]; !known || len(attributes) > 0 {
			return Unknown
		}
	}
	return answer
}

// fields tells whether a dataclass gets a field from one of its bases. Python's own classes and mixins have none.
func (p *Package) fields(bases []found, outside []string, parameter string, i, depth int) Presence {
	answer := Absent
	for _, base := range bases {
		if !p.isDataclass(base, i) {
			continue
		}
		switch p.constructor(base, parameter, i, depth+1) {
		case Present:
			return Present
		case Unknown:
			answer = Unknown
		}
	}
	for _, base := range outside {
		if _, known := elsewhere()[base]; !known && !strings.HasSuffix(base, "Mixin") {
			answer = Unknown
		}
	}
	return answer
}

// isConstructed tells whether a class, or a base of it in the package, has a constructor, so that no other base's counts.
func (p *Package) isConstructed(class found, i, depth int) bool {
	m := p.module(class.module, i)
	if m == nil || depth > maxDepth {
		return false
	}
	if hasEntryAt(m, class.name+".__init__", i, table.Member) || p.isDataclass(class, i) {
		return true
	}
	bases, _ := p.bases(class, i, depth)
	return slices.ContainsFunc(bases, func(base found) bool { return p.isConstructed(base, i, depth+1) })
}

// isDataclass tells whether a decorator makes the constructor of a class.
func (p *Package) isDataclass(class found, i int) bool {
	return slices.ContainsFunc(entries(p.module(class.module, i), class.name, i), func(e table.Entry) bool {
		return e.Kind == table.Class && strings.Contains(e.Arg, "@") && strings.Contains(e.Arg, "dataclass")
	})
}

// takes tells whether a list of parameters has one that can be given by name. Others may hide in **kwargs.
func takes(parameters, name string) Presence {
	answer := Absent
	all := strings.Split(parameters, ",")
	for k, p := range all {
		switch {
		case strings.HasPrefix(p, "**"):
			answer = Unknown
		case p == "~"+name:
			return Present
		case strings.TrimSuffix(p, "=") == name:
			if !slices.Contains(all[k:], "/") {
				return Present
			}
		}
	}
	return answer
}
