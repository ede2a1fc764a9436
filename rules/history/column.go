package history

import (
	"sort"
	"strings"
)

// column are the words of a column in the line that begins with a key, in a sorted list whose columns stand apart by tabs. The list is not cut
// into its lines for that: it is long, and mostly nobody asks twice.
func column(list, key string, number int) []string {
	start := key + "\t"
	lineFrom := func(at int) string { // the first line that begins at a place or after it
		if at > 0 {
			end := strings.IndexByte(list[at-1:], '\n')
			if end < 0 {
				return ""
			}
			at += end
		}
		line, _, _ := strings.Cut(list[at:], "\n")
		return line
	}
	at := sort.Search(len(list), func(at int) bool {
		line := lineFrom(at)
		return line == "" || line >= start
	})
	line := lineFrom(min(at, len(list)))
	if !strings.HasPrefix(line, start) {
		return nil
	}
	return strings.Fields(strings.Split(line, "\t")[number])
}
