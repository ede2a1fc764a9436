// Package rules holds what is known about failures: the vocabulary of facts, the signatures of failures and the rules by which
// libraries choose their backends, all as data, and the three-valued conditions they are written in.
//
// A condition is an expression in the grammar of expr-lang/expr. It is parsed by that library and evaluated here, for two reasons: a
// fact that nobody knows must make a condition unknown rather than false, and only the operations listed in this package can be
// reached, so that no expression, whoever wrote it, can loop, allocate without bound or leave the situation it is asked about.
//
// The knowledge is in facts.yaml, failures/, backends/ and xid.yaml. The files named library are about backends/: how its rules are
// read (load, rules, define, facts), applied (decide, select, explore for what is not known), read back from a log (trail), and searched
// for a change that helps (lever, search, change). index.json, which go generate makes of failures/, lets a program start before it
// has read them; a file that it does not know as it is now is read all the same. Regular expressions are in pattern; most of what is
// asked of them is answered without trying them (pattern_quick).
package rules
