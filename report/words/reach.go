package words

import (
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
)

// Reach says how far a host gets: how many scenarios of each level were clean, of those that were played. It decides nothing.
type Reach map[record.Level]Of

// Of is so many of so many: "6/9".
type Of struct{ Clean, Played int }

func (o Of) String() string { return fmt.Sprintf("%d/%d", o.Clean, o.Played) }

// Add counts a scenario. One without a level counts nowhere.
func (r Reach) Add(level record.Level, clean bool) {
	if level == "" {
		return
	}
	o := r[level]
	o.Played++
	if clean {
		o.Clean++
	}
	r[level] = o
}

// String is "orderly 17/17, stubborn 6/9, sudden 1/10", without the levels of which nothing was played.
func (r Reach) String() string {
	var parts []string
	for _, l := range record.Levels() {
		if o := r[l]; o.Played > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", l, o))
		}
	}
	return strings.Join(parts, ", ")
}
