package condition

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// call compiles one of the functions that rules may use.
func (c *compiler) call(at ast.Node, name string, arguments []ast.Node) *node {
	switch name {
	case "any", "all", "none":
		return c.quantifier(at, name, arguments)
	case "seen":
		return c.seen(at, arguments)
	}
	f, ok := functions[name]
	if !ok {
		return c.fail(at, "there is no function %s; rules have any, all, none, seen, %s", name, strings.Join(functionNames, ", "))
	}
	if len(arguments) != len(f.takes) {
		return c.fail(at, "%s takes %d arguments, not %d", name, len(f.takes), len(arguments))
	}
	operands := make([]*node, len(arguments))
	for i, argument := range arguments {
		operands[i] = c.compile(argument)
		if t := operands[i].shape.Type; t != f.takes[i] && t != Any && f.takes[i] != Any && c.err == nil {
			return c.fail(argument, "%s needs a %s, this is a %s", name, f.takes[i], t)
		}
	}
	return &node{shape: Shape{Type: f.gives}, slot: noSlot, operands: operands, eval: func(s *Situation) Value {
		var values [2]Value
		for i, operand := range operands {
			v := operand.eval(s)
			if v.state != present {
				return v
			}
			values[i] = v
		}
		return f.apply(values[0], values[1])
	}}
}

type function struct {
	takes []Type
	gives Type
	apply func(a, b Value) Value // both present
}

var functionNames = []string{"bytes", "doubled", "len", "lower", "max", "min", "moved", "number", "public", "release", "version"}

var functions = map[string]function{
	"bytes": {[]Type{String}, Number, func(a, _ Value) Value {
		if bytes, ok := Size(a.text); ok {
			return NumberValue(bytes)
		}
		return Nil
	}},
	"doubled": {[]Type{String}, String, func(a, _ Value) Value { return StringValue(doubled(a.text)) }},
	"len": {[]Type{Any}, Number, func(a, _ Value) Value {
		if a.typ == List {
			return NumberValue(float64(len(a.list())))
		}
		return NumberValue(float64(len(a.text)))
	}},
	"lower": {[]Type{String}, String, func(a, _ Value) Value { return StringValue(strings.ToLower(a.text)) }},
	"max":   {[]Type{Number, Number}, Number, func(a, b Value) Value { return NumberValue(max(a.number, b.number)) }},
	"min":   {[]Type{Number, Number}, Number, func(a, b Value) Value { return NumberValue(min(a.number, b.number)) }},
	"moved": {[]Type{String, String}, Number, func(a, b Value) Value { return NumberValue(float64(moved(a.text, b.text))) }},
	"number": {[]Type{String}, Number, func(a, _ Value) Value {
		v, err := FromText(strings.ReplaceAll(a.text, ",", ""), Number)
		if err != nil {
			return Nil
		}
		return v
	}},
	"public": {[]Type{VersionType}, VersionType, func(a, _ Value) Value {
		v, _ := a.Version()
		return VersionValue(v.public())
	}},
	"release": {[]Type{VersionType}, VersionType, func(a, _ Value) Value {
		v, _ := a.Version()
		return VersionValue(v.Release())
	}},
	"version": {[]Type{String}, VersionType, func(a, _ Value) Value { // a text that is none is absent
		v, err := ParseVersion(a.text)
		if err != nil {
			return Nil
		}
		return VersionValue(v)
	}},
}

// doubled is the first folder that stands twice in a row in a path, "" when none does.
func doubled(path string) string {
	parts := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '\\' })
	for i := range max(0, len(parts)-1) {
		if parts[i] == parts[i+1] {
			return parts[i]
		}
	}
	return ""
}

var wholeNumber = regexp.MustCompile(`\d+`)

// moved is at how many places two shapes differ that have the same numbers in another order, as [3, 3, 16, 32] and
// [32, 3, 3, 16]; 0 when they are equal or have other numbers.
func moved(a, b string) (places int) {
	first, second := wholeNumber.FindAllString(a, -1), wholeNumber.FindAllString(b, -1)
	if len(first) != len(second) {
		return 0
	}
	for i := range first {
		if first[i] != second[i] {
			places++
		}
	}
	slices.Sort(first)
	slices.Sort(second)
	if !slices.Equal(first, second) {
		return 0
	}
	return places
}

var sizePattern = regexp.MustCompile(`^\s*([\d.]+)\s*([KMGTP]?)(i?)[Bb](?:ytes)?\s*$|^\s*([\d.]+)\s*([KMGTP])\s*$|^\s*(\d+)\s*(?:bytes)?\s*$`)

// Size is the number of bytes in "20.00 GiB"; K, M, G, T and P count in 1024s, as CUDA and PyTorch print them. Commas
// between digits do not count, as in CuPy's "1,024 bytes".
func Size(text string) (bytes float64, ok bool) {
	m := sizePattern.FindStringSubmatch(strings.ReplaceAll(text, ",", ""))
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1]+m[4]+m[6], 64)
	if err != nil {
		return 0, false
	}
	if unit := m[2] + m[5]; unit != "" {
		for range strings.Index("KMGTP", unit) + 1 {
			n *= 1024
		}
	}
	return n, true
}

// quantifier is any, all or none over a list. Inside it no other one may stand, so that evaluation stays linear.
func (c *compiler) quantifier(at ast.Node, name string, arguments []ast.Node) *node {
	if len(arguments) != 2 {
		return c.fail(at, "%s takes a list and a condition", name)
	}
	if c.predicate != nil {
		return c.fail(at, "%s inside another any, all or none is not allowed", name)
	}
	list := c.compile(arguments[0])
	if t := list.shape.Type; t != List && t != Any {
		return c.fail(at, "%s needs a list, this is a %s", name, t)
	}
	body, ok := arguments[1].(*ast.PredicateNode)
	if !ok {
		return c.fail(at, "%s takes a list and a condition", name)
	}
	c.predicate = &Shape{}
	if list.shape.Items != nil {
		c.predicate = list.shape.Items
	}
	condition := c.boolean(body.Node)
	c.predicate = nil
	return &node{shape: Shape{Type: Bool}, slot: noSlot, operands: []*node{list}, eval: func(s *Situation) Value {
		return quantify(s, name, list.eval(s), condition)
	}}
}

func quantify(s *Situation, name string, list Value, condition *node) Value {
	if !list.Known() {
		return list
	}
	// all is false on the first false, any is true and none is false on the first true.
	decisive := name != "all"
	undecided := false
	for _, item := range list.list() {
		s.item = item
		v := condition.eval(s)
		if !v.Known() {
			undecided = true
		} else if v.True() == decisive {
			return BoolValue(name == "any")
		}
	}
	if undecided {
		return Value{}
	}
	return BoolValue(name != "any")
}

// seen asks whether some line of the log matches; the matcher answers it once the log is read.
func (c *compiler) seen(at ast.Node, arguments []ast.Node) *node {
	if len(arguments) != 1 {
		return c.fail(at, "seen takes one regular expression")
	}
	source, ok := arguments[0].(*ast.StringNode)
	if !ok {
		return c.fail(at, "seen needs a constant regular expression")
	}
	slot, err := c.scope.logPattern(source.Value)
	if err != nil {
		return c.fail(at, "%v", err)
	}
	return &node{shape: Shape{Type: Bool}, slot: slot, eval: func(s *Situation) Value { return s.At(slot) }}
}
