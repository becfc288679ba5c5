package text

import "strings"

// Nearest returns the candidate that is nearest to name, or "" where none is near enough to be meant: at most a third
// of its letters differ, or one is the beginning of the other.
func Nearest(name string, candidates []string) string {
	name = strings.ToLower(name)
	best, bestDistance := "", len(name)/3+2
	for _, c := range candidates {
		if len(name)-len(c) >= bestDistance { // the distance is at least as large, and takes long to find for a long name
			continue
		}
		d := distance(name, strings.ToLower(c))
		if len(name) >= 3 && strings.HasPrefix(strings.ToLower(c), name) {
			d = 1
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// DidYouMean is the sentence for an error message, or "".
func DidYouMean(name string, candidates []string) string {
	if near := Nearest(name, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// distance counts the insertions, deletions, replacements and swaps of neighbours between a and b (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
