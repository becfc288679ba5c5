package history

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

func TestOthersAreWhatIsNeitherHostNorServer(t *testing.T) {
	t.Parallel()
	row := func(pid int, state record.State) record.Process {
		return record.Process{Identity: record.Identity{PID: pid, Start: 5}, State: state}
	}
	p := &tape{}
	p.host(41)
	first := p.census(record.Census{Processes: []record.Process{row(41, "S"), row(101, "S"), row(7, "S"), row(8, "S")}})
	p.born("a#1", "a", "", 1) // what was seen before it reported
	last := p.census(record.Census{Processes: []record.Process{row(7, record.StateZombie), row(101, "S")}})
	reaped := p.add(record.Event{Kind: record.Reaped, Process: &record.Process{Identity: row(7, "").Identity}, Exit: &record.Exit{}})
	p.add(record.Event{Kind: record.Reaped})

	h := of(p.events)
	assert.Equal(t, []*Other{
		{Process: row(7, record.StateZombie), First: first, Last: last, Reaped: reaped},
		{Process: row(8, "S"), First: first, Last: first, Reaped: Never},
	}, h.Others(10))
	assert.Len(t, h.Others(1), 1)
}

func TestEvidenceIsFoundFromAMomentOn(t *testing.T) {
	t.Parallel()
	one, other := record.Identity{PID: 7, Start: 5}, record.Identity{PID: 8, Start: 5}
	taken := func(p *tape, ids ...record.Identity) int64 {
		e := record.Event{Kind: record.EvidenceTaken}
		for _, id := range ids {
			e.Evidence = append(e.Evidence, record.Evidence{Process: record.Process{Identity: id}})
		}
		return p.add(e)
	}
	p := &tape{}
	first := taken(p, one)
	second := taken(p, other, one)
	h := of(p.events)
	assert.Equal(t, first, h.EvidenceAt(one, 0))
	assert.Equal(t, second, h.EvidenceAt(one, first+1))
	assert.Equal(t, second, h.EvidenceAt(other, 0))
	assert.Equal(t, Never, h.EvidenceAt(one, second+1))
}
