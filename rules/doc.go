// Package rules holds what is known about failures: facts.yaml, failures/, backends/, tools.yaml, distributions.yaml and xid.yaml. Load and Open read them into a Base,
// which the matcher asks.
//
// Each topic has a package of its own. rulefile reads YAML with places, pattern tells quickly which lines a regular expression cannot
// match, and command quotes what is filled into commands; they need nothing else. condition is the language of the rules, and fact the
// vocabulary that it speaks of. On these stand signature (known failures), backend (how a library chooses among its implementations) and
// xid (what NVIDIA's driver reports), which do not know each other. This package brings them together, and keeps the index that lets a
// program start before it has read every file. release is the version of the program; bundle keeps knowledge that is newer than it.
package rules
