//go:build !linux || !amd64

package live

// ownCalls are none.
var ownCalls map[int]systemCall
