package history

import "strings"

// rows are the words of each line of a list that is part of the program, without the lines that begin with #. An indented line belongs to
// the row above.
func rows(list string) (all [][]string) {
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case strings.HasPrefix(line, " ") && len(all) > 0:
			all[len(all)-1] = append(all[len(all)-1], words...)
		default:
			all = append(all, words)
		}
	}
	return all
}
