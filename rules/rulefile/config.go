package rulefile

import "reflect"

// Decode reads a YAML file that is not part of a knowledge base as strictly as one that is, into a struct with yaml tags that may
// hold defaults already. The error is Problems: every mistake with its place.
func Decode(file string, content []byte, target any) error {
	d := &Decoder{File: file}
	if root := d.Parse(content); root != nil {
		d.into(root, reflect.ValueOf(target).Elem())
	}
	if len(d.Problems) > 0 {
		return d.Problems
	}
	return nil
}
