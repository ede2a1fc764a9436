// Package backend knows how a library chooses among its implementations of one operation, such as TransformerEngine among its attention
// backends. The files of backends/<library>/ hold, for each release, the rules that take a backend out, the order of what is left, and
// what a user can change; Load makes a Library of them. A Library answers what is chosen under some facts (Evaluate), with the rules and
// sources that say so, and which smallest change would make a backend available (Changes).
//
// The parts build on each other: the definition of a library (library, rule, releases, and load for the files), a decision in one situation
// (situation, decide, prefer), what holds although some facts are unknown (explore, values, selection, reasons, question), the search
// for changes (lever, change, search, blocker), and beside them what the library's own log says of its choice (selection log).
//
// The search is written here because it is small: all sets of four changes are tried, cheapest first, which proves that none is
// cheaper, and three-valued logic rules most of them out in one evaluation.
package backend
