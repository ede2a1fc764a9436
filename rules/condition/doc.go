// Package condition is the language of the rules: typed, three-valued expressions over named facts, such as sm >= 90 and
// torch < "2.6". Names are declared in a Scope, an Expression is compiled in it, and a Situation of the scope says what is known. Out
// comes a Value: true, false, a number, or unknown when what is known does not decide.
//
// The grammar is that of expr-lang/expr, and its parser reads the expressions; this is the only package that knows it. They are
// evaluated here, for two reasons. A fact that nobody knows must make a condition unknown rather than false. And only the operations
// listed here can be reached, so that no expression, whoever wrote it, can loop, allocate without bound or leave the situation that it
// is asked about.
//
// Versions compare as Python's do. A Template is a sentence with the values of names in it.
package condition
