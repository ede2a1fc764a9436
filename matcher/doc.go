// Package matcher finds out what happened: logs go in, and a report comes out that names the root cause. It knows no network and no clock.
//
// Data flows one way, and each step is a package of its own. source opens files, and scan finds literals in their bytes. prefilter tells
// by them which lines can matter, and logline reads such a line: its wrappers, time, level and rank. traceback puts the lines of a process
// together to exceptions, facts takes what lines state, pace keeps how the steps of the job go on, and flight reads NCCL's dumps. reading
// turns all that into events with their occurrences. diagnosis judges the events, finds the one that explains the others, and says so
// in the form of report.
//
// This package holds what the rest of the house asks: an Engine, which is a knowledge base made ready, and the Jobs that it begins. Beside
// the way stand example, which tries a knowledge base on logs, catalogue, which describes failures to somebody who has no log, compare,
// which tells two jobs apart, live, which asks this machine for facts, supervise, which runs a command and reads along, and render, which
// writes reports.
package matcher
