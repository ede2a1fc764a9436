// Package pattern is regular expressions as a reader of logs needs them: thousands of expressions, of which a log needs few, and
// millions of lines, nearly all of which match none.
//
// Two things are written here because package regexp has neither. A pattern is compiled when it is first tried, and before that
// it looks for the literals without which a text cannot match, or whose presence is enough: its literal set. And a pattern can be asked
// about a line template, which stands for all lines that differ in their numbers only, so that what was found out about
// one line need not be found out again about the next.
package pattern
