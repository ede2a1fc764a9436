// Package rules holds what is known about failures: the vocabulary of facts, the signatures of failures and the rules by which
// libraries choose their backends, all as data, and the three-valued conditions they are written in.
//
// A condition is an expression in the grammar of expr-lang/expr. It is parsed by that library and evaluated here, for two reasons: a
// fact that nobody knows must make a condition unknown rather than false, and only the operations listed in this package can be
// reached, so that no expression, whoever wrote it, can loop, allocate without bound or leave the situation it is asked about.
package rules
