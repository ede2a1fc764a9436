// Package rulefile reads YAML strictly. Rule files are written by people, so a mistake in one is told with its file, line and column and
// with what was probably meant, and all mistakes are told at once. Bytes go in; structs, and texts and nodes that remember their
// places, come out.
//
// This is the only package that knows yaml.v3. It decodes by itself because yaml's own decoder stops at what it cannot
// convert, accepts unknown keys or tells of them without a column, and forgets where a value stood.
package rulefile
