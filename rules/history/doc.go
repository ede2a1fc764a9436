// Package history tells which releases of a Python package have a module, a name, a method or a parameter, since when and until when,
// and where a name went. Each package has a table of its own, which is read when somebody asks about that package; cmd/history makes
// them from the archives of the package index.
//
// An answer is Present, Absent or Unknown. Unknown is what a table cannot tell: names made in C or C++ or at run time, and what a class
// inherits from a package that is not looked into. Absent is said only of a name that the sources rule out.
package history
