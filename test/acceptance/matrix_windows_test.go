package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
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

// here is what a cell of the matrix may come to on Windows. It has no zombies, so that nothing breaks L4.
func here(scenario, host, laws string) ([]string, record.DoubtCode) {
	if byRun[scenario+"/"+host] != nil {
		return []string{"L1", ""}, ""
	}
	if host == "reap-all" && byImage[scenario] != "" {
		return []string{byImage[scenario]}, ""
	}
	kept := slices.DeleteFunc(strings.Fields(laws), func(law string) bool { return law == "L4" })
	return []string{strings.Join(kept, " ")}, lacking[scenario]
}

// byRun are the cells of which each run says what it has to come to.
var byRun = map[string]func(verdict.Judged) string{"half-open/naive": halfOpen}

// halfOpen is what naive breaks in half-open. The write to the server that is just dying may fail: then the host launches the next one for
// the same open, and drops that at the reconnect. Or the write comes a moment earlier, and nobody is left. Which it was is whether there
// were more servers at the checkpoint than sessions, by the census or by the ledger.
func halfOpen(j verdict.Judged) string {
	const sessions = 2
	alive := map[string]bool{}
	for _, e := range j.Run.Events {
		switch {
		case e.Kind == record.Born:
			alive[e.Server] = true
		case e.Kind == record.Died:
			delete(alive, e.Server)
		case e.Kind != record.CensusTaken || e.Census.Role != record.CensusSettled || e.Census.Checkpoint != "after-tries":
		case max(len(alive), serversIn(e.Census, j.Run.Header.ID)) > sessions:
			return "L1"
		default:
			return ""
		}
	}
	return "a census at the checkpoint"
}

func serversIn(c *record.Census, run string) (n int) {
	for i := range c.Processes {
		if history.IsServer(&c.Processes[i], run) {
			n++
		}
	}
	return n
}

// TestHalfOpenByTheRun: what the cell has to come to follows from the run alone, and from either witness.
func TestHalfOpenByTheRun(t *testing.T) {
	t.Parallel()
	play := func(births, deaths, rows int) string {
		run := &record.Run{Header: record.Header{ID: "1234"}}
		add := func(e record.Event) { run.Events = append(run.Events, e) }
		for n := range births {
			add(record.Event{Kind: record.Born, Server: fmt.Sprint(n)})
		}
		for n := range deaths {
			add(record.Event{Kind: record.Died, Server: fmt.Sprint(n)})
		}
		server := record.Process{Args: []string{"leakbench.exe", "fakeserver", "--run", "1234"}}
		census := &record.Census{Role: record.CensusSettled, Checkpoint: "after-tries", Processes: slices.Repeat([]record.Process{server}, rows)}
		add(record.Event{Kind: record.CensusTaken, Census: census})
		return halfOpen(verdict.Judged{Run: run})
	}
	assert.Empty(t, play(3, 1, 2))
	assert.Equal(t, "L1", play(4, 1, 3))
	assert.Equal(t, "L1", play(4, 1, 2), "the ledger knows of it")
	assert.Equal(t, "L1", play(3, 1, 3), "the census shows it")
	assert.NotEmpty(t, halfOpen(verdict.Judged{Run: &record.Run{}}), "without a census nothing is shown")
}
