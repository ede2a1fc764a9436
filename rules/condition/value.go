package condition

// Type is what kind of value a fact or an expression has.
type Type uint8

// The types of the condition language. Any is a value whose type shows only when it is there, such as a member of an object.
const (
	Any Type = iota
	Bool
	Number
	String
	VersionType
	List
	Object
	Null
)

var typeNames = [...]string{"any", "bool", "number", "string", "version", "list", "object", "nil"}

// String is the type's name as fact files spell it.
func (t Type) String() string { return typeNames[t] }

// ParseType is the type that a fact file spells so.
func ParseType(name string) (Type, bool) {
	for t, n := range typeNames {
		if n == name && Type(t) != Null {
			return Type(t), true
		}
	}
	return Any, false
}

// Value is what a fact or an expression is worth. The zero Value is unknown; Nil is known to be absent.
type Value struct {
	state  state
	typ    Type
	number float64 // Bool: 0 or 1
	text   string  // String, VersionType; Number: how to write it, "" for the shortest way
	ref    any     // *Version, []Value, map[string]Value
}

type state uint8

const (
	unknown state = iota
	absent
	present
)

// Nil is the value of a fact that is known to be absent: a package not installed, a variable not set.
var Nil = Value{state: absent, typ: Null}

var (
	trueValue  = Value{state: present, typ: Bool, number: 1}
	falseValue = Value{state: present, typ: Bool}
)

// BoolValue is a known truth.
func BoolValue(b bool) Value {
	if b {
		return trueValue
	}
	return falseValue
}

// NumberValue is a known number; integers are exact up to 2^53.
func NumberValue(n float64) Value { return Value{state: present, typ: Number, number: n} }

// NumberShownAs is a known number with the way in which sentences write it: 4 as "4.0", 720 seconds as "12 minutes".
func NumberShownAs(n float64, text string) Value {
	return Value{state: present, typ: Number, number: n, text: text}
}

// StringValue is a known text.
func StringValue(s string) Value { return Value{state: present, typ: String, text: s} }

// VersionValue is a known version.
func VersionValue(v Version) Value {
	return Value{state: present, typ: VersionType, text: v.text, ref: &v}
}

// ListValue is a known list.
func ListValue(items ...Value) Value { return Value{state: present, typ: List, ref: items} }

// ObjectValue is a known set of named values.
func ObjectValue(members map[string]Value) Value {
	return Value{state: present, typ: Object, ref: members}
}

// Known tells whether the value is there or known to be absent.
func (v Value) Known() bool { return v.state != unknown }

// IsNil tells whether the value is known to be absent.
func (v Value) IsNil() bool { return v.state == absent }

// True tells whether the value is known and true.
func (v Value) True() bool { return v.state == present && v.typ == Bool && v.number != 0 }

// False tells whether the value is known and false.
func (v Value) False() bool { return v.state == present && v.typ == Bool && v.number == 0 }

// Type is the type of a known value.
func (v Value) Type() Type { return v.typ }

// Version is the version that the value holds, if it holds one.
func (v Value) Version() (Version, bool) {
	p, ok := v.ref.(*Version)
	if !ok {
		return Version{}, false
	}
	return *p, true
}

// Present tells whether the value is known, and not to be absent.
func (v Value) Present() bool { return v.state == present }

// Number is the number that the value holds, if it holds one.
func (v Value) Number() (n float64, ok bool) { return v.number, v.state == present && v.typ == Number }

// Members are the named values of an object, nil for what is none. The map belongs to the value and must not be changed.
func (v Value) Members() map[string]Value {
	members, _ := v.ref.(map[string]Value)
	return members
}

// Items are the items of a list; nil when it is none.
func (v Value) Items() []Value { return v.list() }

func (v Value) list() []Value {
	items, _ := v.ref.([]Value)
	return items
}

// Member is the member of that name: nil for one that the object lacks, unknown for what is no object.
func (v Value) Member(name string) Value {
	members, ok := v.ref.(map[string]Value)
	if !ok {
		return Value{}
	}
	if m, ok := members[name]; ok {
		return m
	}
	return Nil
}

// Equal tells whether two values are the same; versions are compared as versions.
func (v Value) Equal(o Value) bool {
	if v.state != present || o.state != present {
		return v.state == o.state
	}
	if v.typ != o.typ {
		return false
	}
	switch v.typ {
	case Bool, Number:
		return v.number == o.number
	case VersionType:
		a, _ := v.Version()
		b, _ := o.Version()
		return v.text == o.text || a.Compare(b) == 0
	case List:
		return equalLists(v.list(), o.list())
	case Object:
		return v.String() == o.String()
	}
	return v.text == o.text
}

func equalLists(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}
