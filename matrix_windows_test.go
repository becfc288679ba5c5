package leakbench_test

import (
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
)

// seesStarvation says that a run knows how long its processes waited for a processor. Here it does not: on a busy machine the timeouts of
// a host run out, naive launches once more and drops the server that was slow, and no doubt says why.
const seesStarvation = false

// lacking are the scenarios that need what Windows does not have: they are inconclusive, and say why.
var lacking = map[string]record.DoubtCode{
	"recycled": record.DoubtNoPlace, "pid-1": record.DoubtNoPlace, "subreaper": record.DoubtNoPlace, "nofile": record.DoubtNoLimit,
}

// byImage are the cells of reap-all where it goes by the image of its servers, as taskkill does, and not by their pids: it also ends
// helpers, daemons, and processes that are none of its own.
var byImage = map[string]string{"helpers": "L3", "container": "L3", "shutdown": "L3"}

// here is what a cell of the matrix comes to on Windows. It has no zombies, so that nothing breaks L4. In half-open a write to the
// server that is just dying may fail: then the host launches the next one for the same open, and naive drops that at the reconnect. Or
// it comes a moment earlier, and nobody is left.
func here(scenario, host, laws string) ([]string, record.DoubtCode) {
	if scenario == "half-open" && host == "naive" {
		return []string{"L1", ""}, ""
	}
	if host == "reap-all" && byImage[scenario] != "" {
		return []string{byImage[scenario]}, ""
	}
	kept := slices.DeleteFunc(strings.Fields(laws), func(law string) bool { return law == "L4" })
	return []string{strings.Join(kept, " ")}, lacking[scenario]
}
