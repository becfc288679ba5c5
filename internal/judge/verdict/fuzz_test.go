package verdict

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// FuzzJudge damages real-looking runs: whatever is in a file, Judge returns,
// twice the same, and never calls a run clean that lacks its end.
func FuzzJudge(f *testing.F) {
	for i := range allCases() {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
		f.Add(uint8(i), []byte{0, 9, 0, 1, 7, 3, 2, 11, 5, 3, 40, 8, 4, 20, 2, 5, 3, 3})
	}
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		cases := allCases()
		run := cases[int(which)%len(cases)].show(newPlay())
		for len(edits) >= 3 {
			damage(run, edits[0], int(edits[1]), edits[2])
			edits = edits[3:]
		}
		v := Judge(run)
		require.Equal(t, v, Judge(run))
		require.Len(t, v.Laws, len(law.All()))
		if n := len(run.Events); n == 0 || run.Events[n-1].Kind != record.Ended {
			require.NotEqual(t, Clean, v.Outcome)
		}
	})
}

func damage(run *record.Run, what byte, at int, value byte) {
	if len(run.Events) == 0 {
		return
	}
	i := at % len(run.Events)
	e := &run.Events[i]
	switch what % 12 {
	case 0:
		run.Events = append(run.Events[:i:i], run.Events[i+1:]...)
	case 1:
		other := int(value) % len(run.Events)
		run.Events[i], run.Events[other] = run.Events[other], run.Events[i]
	case 2:
		run.Events = append(run.Events, *e)
	case 3:
		kinds := allKindsOfEvents()
		e.Kind = kinds[int(value)%len(kinds)]
	case 4:
		e.T = []int64{math.MinInt64, -1, 0, math.MaxInt64}[value%4]
	case 5:
		e.Seq = int64(value) - 100
	case 6:
		e.Server = []string{"", "flaky#1", "x#99", "\x1b[31m"}[value%4]
	case 7:
		*e = record.Event{Seq: e.Seq, T: e.T, Kind: e.Kind}
	case 8:
		run.Events = run.Events[:i]
	case 9:
		damagePayload(e, value)
	case 10:
		damageHeader(&run.Header, value)
	case 11:
		e.Signal, e.Text = "SIG\x00", "\x00"
	}
}

func damagePayload(e *record.Event, value byte) {
	huge := []int{math.MinInt, -1, 0, math.MaxInt}[value%4]
	switch {
	case e.Checkpoint != nil:
		cp := *e.Checkpoint
		cp.HostGone = !cp.HostGone
		cp.Wants = append(cp.Wants, record.Want{Label: "flaky", Live: huge}, record.Want{Label: "flaky", Session: "s1", Live: huge, AtMost: value > 128})
		e.Checkpoint = &cp
	case e.Census != nil:
		e.Census.Processes = append(e.Census.Processes, record.Process{Identity: record.Identity{PID: huge}, State: "Z", CPU: record.Duration(huge)}, record.Process{})
		e.Census.Role = record.CensusRole([]string{"", "settled", "confirm"}[value%3])
	case e.Birth != nil:
		b := *e.Birth
		b.Identity, b.Launch, b.Session, b.Label = record.Identity{PID: huge}, huge, "", "flaky"
		e.Birth = &b
	case e.Step != nil:
		st := *e.Step
		st.N, st.Op, st.Expect, st.OK = huge, []record.Op{"", "kill", "close", "job"}[value%4], "", !st.OK
		e.Step = &st
	case e.Session != nil:
		ss := *e.Session
		ss.State, ss.Name = record.SessionState([]string{"", "open", "opening", "ended"}[value%4]), ""
		e.Session = &ss
	case len(e.Evidence) > 0:
		e.Evidence = append(e.Evidence, record.Evidence{Descriptors: []record.Descriptor{{FD: 0, Holders: []record.Holder{{}}}}})
	}
}

func damageHeader(h *record.Header, value byte) {
	huge := []int{math.MinInt, -1, 0, math.MaxInt}[value%4]
	h.ID = []string{"", runID}[value%2]
	h.Limits.SpawnsPerSession, h.Limits.SpawnsPerMinute = huge, huge
	h.Limits.Settle, h.Limits.Quiet, h.Limits.Close = record.Duration(huge), record.Duration(huge), record.Duration(huge)
	h.Plan.Labels = append(h.Plan.Labels, record.PlanLabel{Launches: huge})
	h.Plan.Faults = append(h.Plan.Faults, record.PlanFault{Launch: huge, Every: huge, Fires: huge})
	h.Plan.Checkpoints = append(h.Plan.Checkpoints, "", "after")
	h.Host.Kind = record.HostKind([]string{"", "driver", "command"}[value%3])
	h.Witness.Subreaper = value%2 == 0
}
