// Package matcher finds out what happened: it reads logs, untangles their ranks, assembles tracebacks, matches them against the
// knowledge base and tells the root cause from what followed it. It knows no network and no clock.
//
// A log goes through these files in this order:
//
//	feed                   which lines matter: most go by unread
//	sieve, head, kind      which matter by themselves, told by the workers of the scan for all lines that differ in numbers only
//	reader, prefix, stamp  what is left of a line without colours and prefixes, when it was written, and by whom
//	docker                 what is left of one that Docker keeps as JSON, and what is looked for in its place
//	traceback              the lines of one process put together to exceptions, and their chains
//	reading, matching      what signatures know, and what conditions ask for anywhere in a log
//	event, spell, last     that kept once and counted since its job last went on; the words that only the last lines are asked for
//	facts, dictfacts, xid  what the log states about the situation
//	sample, step, pace     how far and how fast the steps of some lines say that a job goes
//	cause, root, progress  what was survived, what follows from what, and which rank was first
//	compared               what no line states and a comparison of steps or of dumps shows
//	diagnose, words        the answer, and its words
//	choice                 what a library's backend rules say of it
//	report, redact         its form, without secrets
//
// Beside that way, engine prepares a knowledge base for it, remarks tells what of one makes it slow, and example tests one with logs.
//
// The packages below it know one thing each: scan finds literals in bytes, source opens files, flight reads the flight recorder's
// dumps, live asks this machine, render writes reports.
package matcher
