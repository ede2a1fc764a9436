// Package table is the form in which the history of one Python package is kept: for each release what its source files declare,
// as records, and for each record the releases that have it. A table is small because most of a release is as it was before.
//
// Encode writes a table, Decode reads one. Modules are decoded when they are asked for, so that a question pays for what it touches.
package table
