package starved

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
)

// benchLoad is what this process had of the processors, its threads together (Documentation/scheduler/sched-stats.rst: time on a
// processor, time waited for one, in nanoseconds). What ended threads had is not in it.
func benchLoad() (l record.Load) {
	paths, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return l
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		if fields := strings.Fields(string(text)); len(fields) >= 2 {
			ran, _ := strconv.ParseInt(fields[0], 10, 64)
			delayed, _ := strconv.ParseInt(fields[1], 10, 64)
			l.Ran += record.Duration(ran)
			l.Delayed += record.Duration(delayed)
		}
	}
	return l
}
