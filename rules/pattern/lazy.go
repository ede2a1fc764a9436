package pattern

import (
	"regexp"
	"sync"
)

// Lazy is a regular expression of the program itself, compiled when it is first asked for: most logs need few, and a program starts
// without. It panics then when the expression is wrong.
func Lazy(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}
