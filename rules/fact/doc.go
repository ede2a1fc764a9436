// Package fact is the vocabulary of facts.yaml: the names that rules may ask about, with the type of each, what it means, the
// command that tells it, and the ways in which a log or a machine states it. The file goes in; a Vocabulary comes out, whose readers
// the matcher applies to lines and whose files and packages it looks for on a machine.
//
// Decodings are written here because each library spells its versions in a way of its own, such as 90201 for cuDNN 9.2.1.
package fact
