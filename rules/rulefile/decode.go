package rulefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/gpu-triage/triage/rules/spelling"
)

// maxRuleFile bounds one rule file, in bytes; the largest of ours has a tenth of it.
const maxRuleFile = 1 << 20

// Decoder reads YAML into Go values strictly: unknown keys, wrong types, aliases and second documents are mistakes, and all of them
// are collected.
type Decoder struct {
	File     string // named in the problems
	Problems Problems
}

// Read reads a whole file of a knowledge base into a struct with yaml tags. It returns the root, too, for the places of what is missing;
// nil means that the file is no YAML.
func Read[T any](d *Decoder, content []byte) (T, *Node) {
	var target T
	root := d.parse(content)
	if root == nil {
		return target, nil
	}
	d.into(root, reflect.ValueOf(&target).Elem())
	return target, newNode(root)
}

// Parse reads a whole file as a node; nil means that it is no YAML, which is noted.
func Parse(d *Decoder, content []byte) *Node {
	root := d.parse(content)
	if root == nil {
		return nil
	}
	return newNode(root)
}

// Decode reads a YAML file that is not part of a knowledge base as strictly as one that is, into a struct with yaml tags that may
// hold defaults already. The error is Problems: every mistake with its place.
func Decode(file string, content []byte, target any) error {
	d := &Decoder{File: file}
	if root := d.parse(content); root != nil {
		d.into(root, reflect.ValueOf(target).Elem())
	}
	if len(d.Problems) > 0 {
		return d.Problems
	}
	return nil
}

// Problem notes a mistake. Places count from 1; what has none is at the beginning of the file.
func (d *Decoder) Problem(line, column int, format string, args ...any) {
	d.Problems = append(d.Problems, Problem{d.File, max(line, 1), max(column, 1), fmt.Sprintf(format, args...)})
}

// parse reads the one document of a rule file; nil means that a problem was noted.
func (d *Decoder) parse(content []byte) *yaml.Node {
	if len(content) > maxRuleFile {
		d.Problem(1, 1, "the file has %d bytes, at most %d are read: split it", len(content), maxRuleFile)
		return nil
	}
	reader := yaml.NewDecoder(bytes.NewReader(content))
	var document yaml.Node
	if err := reader.Decode(&document); err != nil {
		line, message := yamlError(err)
		d.Problem(line, 1, "%s", message)
		return nil
	}
	var second yaml.Node
	if err := reader.Decode(&second); !errors.Is(err, io.EOF) {
		d.Problem(max(second.Line, 1), 1, "a rule file holds one document, a second one begins here")
		return nil
	}
	return document.Content[0]
}

// yamlError takes the line out of yaml's own message, which has no other place for it.
func yamlError(err error) (line int, message string) {
	if errors.Is(err, io.EOF) {
		return 1, "the file is empty"
	}
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, text, ok := strings.Cut(rest, ": "); ok {
			line, _ = strconv.Atoi(number)
			if strings.Contains(text, "did not find expected") { // of such a mistake yaml counts the lines from 0
				return line + 1, text + "; a text with { } [ ] : or # in it needs quotes"
			}
			return line, text
		}
	}
	return 1, message
}

// into fills target, a settable value, from a node.
func (d *Decoder) into(n *yaml.Node, target reflect.Value) {
	if d.refuseAlias(n) {
		return
	}
	switch target.Interface().(type) {
	case Text:
		if d.scalar(n, "a text") {
			target.Set(reflect.ValueOf(newText(n)))
		}
		return
	case *Node:
		d.refuseAliases(n)
		target.Set(reflect.ValueOf(newNode(n)))
		return
	}
	switch target.Kind() {
	case reflect.Struct:
		d.structure(n, target)
	case reflect.Slice:
		d.slice(n, target)
	case reflect.Map:
		d.mapping(n, target)
	case reflect.Interface:
		var v any
		if err := n.Decode(&v); err != nil {
			d.Problem(n.Line, n.Column, "%v", err)
			return
		}
		if v != nil {
			target.Set(reflect.ValueOf(v))
		}
	default:
		d.basic(n, target)
	}
}

func (d *Decoder) refuseAlias(n *yaml.Node) bool {
	alias := n.Kind == yaml.AliasNode || n.Anchor != ""
	if alias {
		d.Problem(n.Line, n.Column, "anchors and aliases are not allowed in rules")
	}
	return alias
}

// refuseAliases looks for them in all of a part that is read later.
func (d *Decoder) refuseAliases(n *yaml.Node) {
	for _, child := range n.Content {
		if !d.refuseAlias(child) {
			d.refuseAliases(child)
		}
	}
}

func (d *Decoder) scalar(n *yaml.Node, want string) bool {
	if n.Kind != yaml.ScalarNode {
		d.Problem(n.Line, n.Column, "%s is needed here; put quotes around an expression that YAML takes for something else", want)
		return false
	}
	return true
}

// basic fills a text, a whole number or a truth.
func (d *Decoder) basic(n *yaml.Node, target reflect.Value) {
	switch target.Kind() {
	case reflect.String:
		if d.scalar(n, "a text") {
			target.SetString(n.Value)
		}
	case reflect.Int:
		value, err := strconv.Atoi(n.Value)
		if err != nil || n.Kind != yaml.ScalarNode {
			d.Problem(n.Line, n.Column, "%q is not a whole number", n.Value)
			return
		}
		target.SetInt(int64(value))
	case reflect.Bool:
		value, err := strconv.ParseBool(n.Value)
		if err != nil || n.Kind != yaml.ScalarNode {
			d.Problem(n.Line, n.Column, "%q is neither true nor false", n.Value)
			return
		}
		target.SetBool(value)
	default:
		d.Problem(n.Line, n.Column, "this cannot be read as %s", target.Type())
	}
}

// slice takes a list, or a single element without the brackets.
func (d *Decoder) slice(n *yaml.Node, target reflect.Value) {
	elements := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		elements = n.Content
	}
	for _, element := range elements {
		item := reflect.New(target.Type().Elem()).Elem()
		d.into(element, item)
		target.Set(reflect.Append(target, item))
	}
}

// mapping fills a Go map.
func (d *Decoder) mapping(n *yaml.Node, target reflect.Value) {
	target.Set(reflect.MakeMap(target.Type()))
	d.pairs(n, func(key, value *yaml.Node) {
		item := reflect.New(target.Type().Elem()).Elem()
		d.into(value, item)
		target.SetMapIndex(reflect.ValueOf(key.Value), item)
	})
}

// structure fills a struct by its yaml tags.
func (d *Decoder) structure(n *yaml.Node, target reflect.Value) {
	fields := make(map[string]int)
	var names []string
	for i := range target.NumField() {
		if name := target.Type().Field(i).Tag.Get("yaml"); name != "" {
			fields[name] = i
			names = append(names, name)
		}
	}
	d.pairs(n, func(key, value *yaml.Node) {
		i, ok := fields[key.Value]
		if !ok {
			message := fmt.Sprintf("unknown key %q; known are %s", key.Value, strings.Join(names, ", "))
			if near := spelling.Nearest(key.Value, names); near != "" {
				message = fmt.Sprintf("unknown key %q, did you mean %q?", key.Value, near)
			}
			d.Problem(key.Line, key.Column, "%s", message)
			return
		}
		d.into(value, target.Field(i))
	})
}

// pairs calls f for each key of a mapping and notes keys that stand twice.
func (d *Decoder) pairs(n *yaml.Node, f func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.Problem(n.Line, n.Column, "a mapping (key: value) is needed here")
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			d.Problem(key.Line, key.Column, "the key %q stands here twice", key.Value)
			continue
		}
		seen[key.Value] = true
		f(key, n.Content[i+1])
	}
}
