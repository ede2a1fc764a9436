package condition

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// call compiles one of the functions that rules may use.
func (c *compiler) call(at ast.Node, name string, arguments []ast.Node) *Node {
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
	kids := make([]*Node, len(arguments))
	for i, argument := range arguments {
		kids[i] = c.compile(argument)
		if t := kids[i].Shape.Type; t != f.takes[i] && t != Any && f.takes[i] != Any && c.err == nil {
			return c.fail(argument, "%s needs a %s, this is a %s", name, f.takes[i], t)
		}
	}
	return &Node{Shape: Shape{Type: f.gives}, Slot: -1, Kids: kids, Eval: func(s *Situation) Value {
		var values [2]Value
		for i, kid := range kids {
			if values[i] = kid.Eval(s); values[i].State != Present {
				return values[i]
			}
		}
		return f.apply(values[0], values[1])
	}}
}

type function struct {
	takes []Type
	gives Type
	apply func(a, b Value) Value // both present
}

var functionNames = []string{"bytes", "len", "lower", "max", "min", "number", "public", "release"}

var functions = map[string]function{
	"bytes": {[]Type{String}, Number, func(a, _ Value) Value { return Size(a.Text) }},
	"len": {[]Type{Any}, Number, func(a, _ Value) Value {
		if a.Typ == List {
			return NumberValue(float64(len(a.list())))
		}
		return NumberValue(float64(len(a.Text)))
	}},
	"lower": {[]Type{String}, String, func(a, _ Value) Value { return StringValue(strings.ToLower(a.Text)) }},
	"max":   {[]Type{Number, Number}, Number, func(a, b Value) Value { return NumberValue(max(a.Number, b.Number)) }},
	"min":   {[]Type{Number, Number}, Number, func(a, b Value) Value { return NumberValue(min(a.Number, b.Number)) }},
	"number": {[]Type{String}, Number, func(a, _ Value) Value {
		v, err := FromText(strings.ReplaceAll(a.Text, ",", ""), Number)
		if err != nil {
			return Nil
		}
		return v
	}},
	"public": {[]Type{VersionType}, VersionType, func(a, _ Value) Value {
		v, _ := a.Version()
		return VersionValue(v.Public())
	}},
	"release": {[]Type{VersionType}, VersionType, func(a, _ Value) Value {
		v, _ := a.Version()
		return VersionValue(v.Release())
	}},
}

var sizePattern = regexp.MustCompile(`^\s*([\d.]+)\s*([KMGTP]?)(i?)[Bb](?:ytes)?\s*$|^\s*([\d.]+)\s*([KMGTP])\s*$|^\s*(\d+)\s*(?:bytes)?\s*$`)

// size is the number of bytes in "20.00 GiB"; K, M, G and T count in 1024s, as CUDA and PyTorch print them.
func Size(text string) Value {
	m := sizePattern.FindStringSubmatch(text)
	if m == nil {
		return Nil
	}
	n, err := strconv.ParseFloat(m[1]+m[4]+m[6], 64)
	if err != nil {
		return Nil
	}
	if unit := m[2] + m[5]; unit != "" {
		for range strings.Index("KMGTP", unit) + 1 {
			n *= 1024
		}
	}
	return NumberValue(n)
}

// quantifier is any, all or none over a list. Inside it no other one may stand, so that evaluation stays linear.
func (c *compiler) quantifier(at ast.Node, name string, arguments []ast.Node) *Node {
	if len(arguments) != 2 {
		return c.fail(at, "%s takes a list and a condition", name)
	}
	if c.predicate != nil {
		return c.fail(at, "%s inside another any, all or none is not allowed", name)
	}
	list := c.compile(arguments[0])
	if t := list.Shape.Type; t != List && t != Any {
		return c.fail(at, "%s needs a list, this is a %s", name, t)
	}
	body, ok := arguments[1].(*ast.PredicateNode)
	if !ok {
		return c.fail(at, "%s takes a list and a condition", name)
	}
	c.predicate = &Shape{}
	if list.Shape.Items != nil {
		c.predicate = list.Shape.Items
	}
	condition := c.boolean(body.Node)
	c.predicate = nil
	return &Node{Shape: Shape{Type: Bool}, Slot: -1, Kids: []*Node{list}, Eval: func(s *Situation) Value {
		return quantify(s, name, list.Eval(s), condition)
	}}
}

func quantify(s *Situation, name string, list Value, condition *Node) Value {
	if !list.Known() {
		return list
	}
	// all is false on the first false, any is true on the first true, none is false on the first true.
	decisive := name != "all"
	undecided := false
	for _, s.item = range list.list() {
		v := condition.Eval(s)
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
func (c *compiler) seen(at ast.Node, arguments []ast.Node) *Node {
	if len(arguments) != 1 {
		return c.fail(at, "seen takes one regular expression")
	}
	source, ok := arguments[0].(*ast.StringNode)
	if !ok {
		return c.fail(at, "seen needs a constant regular expression")
	}
	i, err := c.scope.Seen(source.Value)
	if err != nil {
		return c.fail(at, "%v", err)
	}
	return &Node{Shape: Shape{Type: Bool}, Slot: i, Eval: func(s *Situation) Value { return s.at(i) }}
}
