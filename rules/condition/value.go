package condition

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

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

var TypeNames = [...]string{"any", "bool", "number", "string", "version", "list", "object", "nil"}

// String is the type's name as fact files spell it.
func (t Type) String() string { return TypeNames[t] }

// Value is what a fact or an expression is worth. The zero Value is unknown; Nil is known to be absent.
type Value struct {
	State  state
	Typ    Type
	Number float64 // Bool: 0 or 1
	Text   string  // String, VersionType; Number: how to write it, "" for the shortest way
	Ref    any     // *Version, []Value, map[string]Value
}

type state uint8

const (
	Unknown state = iota
	absent
	Present
)

// Nil is the value of a fact that is known to be absent: a package not installed, a variable not set.
var Nil = Value{State: absent, Typ: Null}

var (
	TrueValue  = Value{State: Present, Typ: Bool, Number: 1}
	FalseValue = Value{State: Present, Typ: Bool}
)

// BoolValue is a known truth.
func BoolValue(b bool) Value {
	if b {
		return TrueValue
	}
	return FalseValue
}

// NumberValue is a known number; integers are exact up to 2^53.
func NumberValue(n float64) Value { return Value{State: Present, Typ: Number, Number: n} }

// NumberShownAs is a known number with the way in which sentences write it: 4 as "4.0", 720 seconds as "12 minutes".
func NumberShownAs(n float64, text string) Value {
	return Value{State: Present, Typ: Number, Number: n, Text: text}
}

// StringValue is a known text.
func StringValue(s string) Value { return Value{State: Present, Typ: String, Text: s} }

// VersionValue is a known version.
func VersionValue(v Version) Value {
	return Value{State: Present, Typ: VersionType, Text: v.Text, Ref: &v}
}

// ListValue is a known list.
func ListValue(items ...Value) Value { return Value{State: Present, Typ: List, Ref: items} }

// ObjectValue is a known set of named values.
func ObjectValue(members map[string]Value) Value {
	return Value{State: Present, Typ: Object, Ref: members}
}

// Known tells whether the value is there or known to be absent.
func (v Value) Known() bool { return v.State != Unknown }

// IsNil tells whether the value is known to be absent.
func (v Value) IsNil() bool { return v.State == absent }

// True tells whether the value is known and true.
func (v Value) True() bool { return v.State == Present && v.Typ == Bool && v.Number != 0 }

// False tells whether the value is known and false.
func (v Value) False() bool { return v.State == Present && v.Typ == Bool && v.Number == 0 }

// Type is the type of a known value.
func (v Value) Type() Type { return v.Typ }

// Version is the version that the value holds, if it holds one.
func (v Value) Version() (Version, bool) {
	p, ok := v.Ref.(*Version)
	if !ok {
		return Version{}, false
	}
	return *p, true
}

func (v Value) list() []Value {
	items, _ := v.Ref.([]Value)
	return items
}

func (v Value) Member(name string) Value {
	members, ok := v.Ref.(map[string]Value)
	if !ok {
		return Value{}
	}
	if m, ok := members[name]; ok {
		return m
	}
	return Nil
}

// String is the value as a person writes it.
func (v Value) String() string {
	switch {
	case v.State == Unknown:
		return "unknown"
	case v.State == absent:
		return "none"
	case v.Typ == Bool:
		return strconv.FormatBool(v.Number != 0)
	case v.Typ == Number && v.Text == "":
		return strconv.FormatFloat(v.Number, 'f', -1, 64)
	case v.Typ == List:
		parts := make([]string, len(v.list()))
		for i, item := range v.list() {
			parts[i] = item.String()
		}
		return "(" + strings.Join(parts, ", ") + ")"
	case v.Typ == Object:
		text, err := json.Marshal(v.JSON())
		if err != nil {
			return "{…}"
		}
		return string(text)
	}
	return v.Text
}

// JSON is the value in the types of encoding/json: nil, bool, float64, string, []any, map[string]any.
func (v Value) JSON() any {
	switch {
	case v.State != Present:
		return nil
	case v.Typ == Bool:
		return v.Number != 0
	case v.Typ == Number:
		return v.Number
	case v.Typ == List:
		items := make([]any, len(v.list()))
		for i, item := range v.list() {
			items[i] = item.JSON()
		}
		return items
	case v.Typ == Object:
		members := make(map[string]any)
		for name, m := range v.Ref.(map[string]Value) {
			members[name] = m.JSON()
		}
		return members
	}
	return v.Text
}

// Equal tells whether two values are the same; versions are compared as versions.
func (v Value) Equal(o Value) bool {
	if v.State != Present || o.State != Present {
		return v.State == o.State
	}
	if v.Typ != o.Typ {
		return false
	}
	switch v.Typ {
	case Bool, Number:
		return v.Number == o.Number
	case VersionType:
		a, _ := v.Version()
		b, _ := o.Version()
		return v.Text == o.Text || a.Compare(b) == 0
	case List:
		return equalLists(v.list(), o.list())
	case Object:
		return v.String() == o.String()
	}
	return v.Text == o.Text
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

// FromJSON turns what encoding/json decoded into a Value of the wanted type.
func FromJSON(decoded any, want Type) (Value, error) {
	switch d := decoded.(type) {
	case nil:
		return Nil, nil
	case bool:
		if want == Bool || want == Any {
			return BoolValue(d), nil
		}
	case float64:
		if want == Number || want == Any {
			return NumberValue(d), nil
		}
	case string:
		return FromText(d, want)
	case []any:
		items := make([]Value, len(d))
		for i, item := range d {
			value, err := FromJSON(item, Any)
			if err != nil {
				return Value{}, err
			}
			items[i] = value
		}
		if want == List || want == Any {
			return ListValue(items...), nil
		}
	case map[string]any:
		members := make(map[string]Value, len(d))
		for name, item := range d {
			value, err := FromJSON(item, Any)
			if err != nil {
				return Value{}, err
			}
			members[name] = value
		}
		if want == Object || want == Any {
			return ObjectValue(members), nil
		}
	}
	return Value{}, fmt.Errorf("%v is not a %s", decoded, want)
}

// fromText reads a value of the wanted type from what a person or a log writes.
func FromText(text string, want Type) (Value, error) {
	switch want {
	case String, Any:
		return StringValue(text), nil
	case VersionType:
		v, err := ParseVersion(text)
		return VersionValue(v), err
	case Bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes", "on":
			return TrueValue, nil
		case "false", "0", "no", "off":
			return FalseValue, nil
		}
		return Value{}, fmt.Errorf("%q is neither true nor false", text)
	case Number:
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || n != n {
			return Value{}, fmt.Errorf("%q is not a number", text)
		}
		return NumberValue(n), nil
	}
	var decoded any
	text = strings.NewReplacer("(", "[", ")", "]").Replace(text)
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		return Value{}, fmt.Errorf("%q is not a %s in JSON", text, want)
	}
	return FromJSON(decoded, want)
}
