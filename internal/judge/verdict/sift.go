package verdict

import "github.com/leakbench/leakbench/internal/record"

// sift keeps the events that say what their kind must say, in the order of
// time, so that nothing after it has to ask. What it drops is a doubt.
func (f *facts) sift(events []record.Event) {
	born := map[string]bool{}
	for i := range events {
		e := &events[i]
		if e.T < f.lastT || !sound(e) || !known(e, born) {
			f.unsound++
			continue
		}
		f.lastT = e.T
		f.events = append(f.events, *e)
	}
}

// sound says that an event carries what its kind must carry.
func sound(e *record.Event) bool {
	switch e.Kind {
	case record.HostStarted:
		return e.Process != nil
	case record.HostExited:
		return e.Exit != nil
	case record.StepBegun, record.StepEnded, record.StepSkipped:
		return e.Step != nil
	case record.SessionChanged:
		return e.Session != nil
	case record.Born:
		return e.Birth != nil && e.Server != ""
	case record.RPC:
		return e.RPC != nil
	case record.Faulted:
		return e.Fault != nil
	case record.CheckpointBegun, record.CheckpointEnded:
		return e.Checkpoint != nil
	case record.CensusTaken, record.Swept:
		return e.Census != nil
	case record.BystanderSeen:
		return e.Process != nil
	case record.Controlled:
		return e.Control != nil
	case record.Doubted:
		return e.Doubt != nil
	case record.Ended:
		return e.End != nil
	case record.HostReady, record.Ready, record.SawEOF, record.SawSignal, record.WroteStderr, record.Bye, record.Died, record.Lost, record.Reaped, record.EvidenceTaken:
		return true
	}
	return false // a kind that this version does not know may have been a death
}

// known says that an event speaks of a server that was born, and that a server
// is born once.
func known(e *record.Event, born map[string]bool) bool {
	switch e.Kind {
	case record.Born:
		again := born[e.Server]
		born[e.Server] = true
		return !again
	case record.Ready, record.RPC, record.Faulted, record.SawEOF, record.SawSignal, record.WroteStderr, record.Bye, record.Died, record.Lost:
		return born[e.Server]
	}
	return true
}
