package condition

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// String is the value as a person writes it.
func (v Value) String() string {
	switch {
	case v.state == unknown:
		return "unknown"
	case v.state == absent:
		return "none"
	case v.typ == Bool:
		return strconv.FormatBool(v.number != 0)
	case v.typ == Number && v.text == "":
		return strconv.FormatFloat(v.number, 'f', -1, 64)
	case v.typ == List:
		parts := make([]string, len(v.list()))
		for i, item := range v.list() {
			parts[i] = item.String()
		}
		return "(" + strings.Join(parts, ", ") + ")"
	case v.typ == Object:
		text, err := json.Marshal(v.JSON())
		if err != nil {
			return "{…}"
		}
		return string(text)
	}
	return v.text
}

// JSON is the value in the types of encoding/json: nil, bool, float64, string, []any, map[string]any.
func (v Value) JSON() any {
	switch {
	case v.state != present:
		return nil
	case v.typ == Bool:
		return v.number != 0
	case v.typ == Number:
		return v.number
	case v.typ == List:
		items := make([]any, len(v.list()))
		for i, item := range v.list() {
			items[i] = item.JSON()
		}
		return items
	case v.typ == Object:
		members := make(map[string]any)
		for name, m := range v.ref.(map[string]Value) {
			members[name] = m.JSON()
		}
		return members
	}
	return v.text
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

// FromText reads a value of the wanted type from what a person or a log writes.
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
			return trueValue, nil
		case "false", "0", "no", "off":
			return falseValue, nil
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
