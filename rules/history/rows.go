package history

import "strings"

// rows are the words of each line of a list that is part of the program, without the lines that begin with #.
func rows(list string) (all [][]string) {
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			all = append(all, words)
		}
	}
	return all
}
