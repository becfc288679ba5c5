package doubts

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

// TestWhatTheLedgerLost is told, but for what it lost because the bench closed it.
func TestWhatTheLedgerLost(t *testing.T) {
	t.Parallel()
	for text, found := range map[string]int{"cut off": 1, string(record.LostAtEnd): 0} {
		p := newPlay()
		p.open("s1")
		p.add(record.Event{Kind: record.Lost, Server: "flaky#1", Text: text})
		p.add(record.Event{Kind: record.SawEOF, Server: "flaky#1", Text: "cut off"}) // another kind
		f := p.search()
		f.doubtWitnesses()
		assert.Len(t, f.found, found, text)
	}
}

// TestWitnessesThatDisagree: each process is told once, and each checkpoint is noted at which they disagree.
func TestWitnessesThatDisagree(t *testing.T) {
	t.Parallel()
	const alive, unborn = "the ledger holds flaky#1 (pid 101) for alive, the census does not see it", "the census sees a fake server (pid 77) that never reported to the ledger"
	ghost := record.Process{Identity: record.Identity{PID: 77, Start: 1}, State: record.StateSleeping, Args: []string{"leakbench", "fakeserver", "--run", "feedc0ffee42"}}
	for name, c := range map[string]struct {
		change func(f *search, cp *facts.Checkpoint)
		says   []string
	}{
		"they agree":   {func(*search, *facts.Checkpoint) {}, nil},
		"not seen":     {func(f *search, cp *facts.Checkpoint) { cp.Alive = f.servers }, []string{alive}},
		"not reported": {func(_ *search, cp *facts.Checkpoint) { see(cp, ghost) }, []string{unborn}},
		"both": {func(f *search, cp *facts.Checkpoint) {
			cp.Alive = f.servers
			see(cp, ghost)
		}, []string{alive, unborn}},
		"nobody looked": {func(f *search, cp *facts.Checkpoint) { cp.Alive, cp.Settled = f.servers, nil }, nil},
	} {
		f, cp := opened("s1"), looked()
		c.change(f, cp)
		again := *cp
		f.Checkpoints = []*facts.Checkpoint{cp, &again}
		f.doubtWitnesses()
		var says []string
		for _, text := range c.says {
			says = append(says, `at checkpoint "after" `+text)
		}
		assert.Equal(t, says, texts(f.found), name)
		assert.Equal(t, len(c.says) > 0, f.split[cp], name)
		assert.Equal(t, len(c.says) > 0, f.split[&again], name)
	}
}

// see has a checkpoint's first look see a process.
func see(cp *facts.Checkpoint, p record.Process) {
	cp.Settled = &record.Census{Processes: []record.Process{p}}
	cp.SettledRows = history.RowsOf(cp.Settled)
}

// TestWhatOnlyTheCensusSees: a fake server of this run that lives and has not reported, also at the second look, where there was one.
func TestWhatOnlyTheCensusSees(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *search, cp *facts.Checkpoint, p *record.Process)
		unborn bool
	}{
		"unborn":         {func(*search, *facts.Checkpoint, *record.Process) {}, true},
		"a zombie":       {func(_ *search, _ *facts.Checkpoint, p *record.Process) { p.State = record.StateZombie }, false},
		"of another run": {func(_ *search, _ *facts.Checkpoint, p *record.Process) { p.Args[3] = "another" }, false},
		"no server":      {func(_ *search, _ *facts.Checkpoint, p *record.Process) { p.Args[1] = "run" }, false},
		"it reported":    {func(f *search, _ *facts.Checkpoint, p *record.Process) { p.Identity = f.servers[0].Birth.Identity }, false},
		"gone by the second look": {func(_ *search, cp *facts.Checkpoint, _ *record.Process) {
			cp.Confirm = &record.Census{}
		}, false},
		"there at the second look": {func(_ *search, cp *facts.Checkpoint, p *record.Process) {
			cp.Confirm = &record.Census{Processes: []record.Process{*p}}
			cp.ConfirmRows = history.RowsOf(cp.Confirm)
		}, true},
	} {
		f, cp := opened("s1"), looked()
		p := record.Process{Identity: record.Identity{PID: 77, Start: 1}, State: record.StateSleeping, Args: []string{"leakbench", "fakeserver", "--run", "feedc0ffee42"}}
		c.change(f, cp, &p)
		see(cp, p)
		assert.Equal(t, c.unborn, len(f.unborn(cp)) == 1, name)
	}
}
