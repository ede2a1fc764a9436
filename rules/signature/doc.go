// Package signature is known failures, one file of failures/ each: how a failure shows in a log, which facts confirm it, why it happens
// and what helps. Files and the vocabulary of facts go in; compiled signatures come out, and before them, cheaply, an Entry of each:
// the literals and patterns by which a log tells whether the signature has to be asked at all.
//
// The checks are written here because they are about meaning: a keyword that would be found everywhere, a name that another
// signature captures, a fix without a source.
package signature
