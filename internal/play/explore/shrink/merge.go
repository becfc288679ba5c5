package shrink

import (
	"slices"
	"strings"

	"github.com/leakbench/leakbench/scenarios"
)

// merges are scenarios with several cuts of one at once: all that go together, and half of them. Each alone shows what is looked for.
func merges(base *scenarios.Scenario, hits []candidate) (all []*scenarios.Scenario) {
	for _, n := range []int{len(hits), (len(hits) + 1) / 2} {
		if n < 2 {
			continue
		}
		text := lines(hits[0].Scenario)
		for _, other := range hits[1:n] {
			if both, ok := merge(lines(base), text, lines(other.Scenario)); ok && reads(base.File, both) {
				text = both
			}
		}
		made, _ := scenarios.Parse(base.File, joined(text))
		if made = tidy(made); made != nil && smaller(made, hits[0].Scenario) {
			all = append(all, made)
		}
	}
	return all
}

// smaller says that a merge is worth trying. Two cuts that write the same steps anew at two places, as when a repeat is taken apart, would
// have them twice.
func smaller(made, than *scenarios.Scenario) bool {
	return made.Size().Steps <= than.Size().Steps && len(made.Text()) < len(than.Text())
}

func lines(s *scenarios.Scenario) []string { return strings.Split(s.Text(), "\n") }

func joined(lines []string) []byte { return []byte(strings.Join(lines, "\n")) }

func reads(file string, lines []string) bool {
	_, err := scenarios.Parse(file, joined(lines))
	return err == nil
}

// merge makes the changes of two texts to a third one. Two different changes at one place do not go together.
func merge(base, a, b []string) (both []string, ok bool) {
	keepA, newA := changes(base, a)
	keepB, newB := changes(base, b)
	for i := 0; i <= len(base); i++ {
		switch {
		case len(newA[i]) == 0:
			both = append(both, newB[i]...)
		case len(newB[i]) == 0 || slices.Equal(newA[i], newB[i]):
			both = append(both, newA[i]...)
		default:
			return nil, false
		}
		if i < len(base) && keepA[i] && keepB[i] {
			both = append(both, base[i])
		}
	}
	return both, true
}

// changes are the lines of a text that another one keeps, and what that has before each of them (a longest common subsequence).
func changes(base, text []string) (keep []bool, before [][]string) {
	common := make([][]int, len(base)+1) // of the ends from there on
	for i := range common {
		common[i] = make([]int, len(text)+1)
	}
	for i := len(base) - 1; i >= 0; i-- {
		for k := len(text) - 1; k >= 0; k-- {
			common[i][k] = max(common[i+1][k], common[i][k+1])
			if base[i] == text[k] {
				common[i][k] = 1 + common[i+1][k+1]
			}
		}
	}
	keep, before = make([]bool, len(base)), make([][]string, len(base)+1)
	for i, k := 0, 0; i < len(base) || k < len(text); {
		switch {
		case i < len(base) && k < len(text) && base[i] == text[k]:
			keep[i] = true
			i, k = i+1, k+1
		case k < len(text) && (i == len(base) || common[i][k+1] > common[i+1][k]):
			before[i] = append(before[i], text[k])
			k++
		default:
			i++
		}
	}
	return keep, before
}
