//go:build !linux

package live

// systemCalls are none: only Linux tells in which one a thread is.
var systemCalls map[int]systemCall
