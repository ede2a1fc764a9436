package rulefile

import (
	"gopkg.in/yaml.v3"
)

// Text is a scalar of a rule file that remembers its place, so that a mistake in an expression can be shown where it stands. Without
// a Line it is a key that is not there, or that is no text.
type Text struct {
	Value        string
	Line, Column int // of its first character, from 1
}

// newText takes the place where the text of a scalar begins: after its quote, or on the line after a block mark.
func newText(n *yaml.Node) Text {
	t := Text{Value: n.Value, Line: n.Line, Column: n.Column}
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle:
		t.Column++
	case yaml.LiteralStyle, yaml.FoldedStyle:
		t.Line++
	}
	return t
}

// Node is a part of a rule file whose form is not known before something else was read: it may be a text, a list or a mapping. A nil
// Node is a key that is not there.
type Node struct {
	Line, Column int // from 1
	yaml         *yaml.Node
}

func newNode(n *yaml.Node) *Node { return &Node{Line: n.Line, Column: n.Column, yaml: n} }

// IsText tells whether the node is one text, number, truth or null.
func (n *Node) IsText() bool { return n.yaml.Kind == yaml.ScalarNode }

// IsMapping tells whether the node is a mapping.
func (n *Node) IsMapping() bool { return n.yaml.Kind == yaml.MappingNode }

// Items are the elements of a list. Any other node stands for a list with itself in it.
func (n *Node) Items() []*Node {
	if n.yaml.Kind != yaml.SequenceNode {
		return []*Node{n}
	}
	items := make([]*Node, len(n.yaml.Content))
	for i, item := range n.yaml.Content {
		items[i] = newNode(item)
	}
	return items
}

// Texts are all texts of the node, those inside lists and mappings and the keys, too.
func (n *Node) Texts() []Text {
	if n.IsText() {
		return []Text{newText(n.yaml)}
	}
	var texts []Text
	for _, part := range n.yaml.Content {
		texts = append(texts, newNode(part).Texts()...)
	}
	return texts
}

// Text is the text of a node. A node that is none is noted as a mistake; want says what belongs there, such as "a condition".
func (d *Decoder) Text(n *Node, want string) (Text, bool) {
	if !d.scalar(n.yaml, want) {
		return Text{}, false
	}
	return newText(n.yaml), true
}

// Pairs calls f for each key of a mapping. What is no mapping, and keys that stand twice, are noted as mistakes.
func (d *Decoder) Pairs(n *Node, f func(key Text, value *Node)) {
	d.pairs(n.yaml, func(key, value *yaml.Node) { f(newText(key), newNode(value)) })
}

// Constant is the value of a node in the types of encoding/json: nil, bool, float64, string, []any, map[string]any.
func (d *Decoder) Constant(n *Node) any {
	var decoded any
	if err := n.yaml.Decode(&decoded); err != nil {
		d.Problem(n.Line, n.Column, "%v", err)
		return nil
	}
	return asJSON(decoded)
}

// asJSON turns what yaml decodes into what encoding/json would.
func asJSON(value any) any {
	switch v := value.(type) {
	case int:
		return float64(v)
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = asJSON(item)
		}
		return items
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, m := range v {
			members[name] = asJSON(m)
		}
		return members
	}
	return value
}
