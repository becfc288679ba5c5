package record

import (
	"errors"
	"fmt"
)

// Check says what an event of its kind lacks. Writer and reader both hold to
// it, so that whoever reads a run may use the fields that a kind fills. Kinds
// that are not known here pass: what a judge makes of them is its own business.
func (e *Event) Check() error {
	lacks := func(missing bool, field string) error {
		if missing {
			return fmt.Errorf("an event of kind %q without its %s", e.Kind, field)
		}
		return nil
	}
	if err := lacks(e.Kind.OfServer() && e.Server == "", "server"); err != nil {
		return err
	}
	switch e.Kind {
	case "":
		return errors.New("an event without a kind (or the header of a second run)")
	case HostStarted:
		return lacks(e.Process == nil, "process")
	case HostReady:
		return lacks(e.Hello == nil, "hello")
	case HostExited:
		return lacks(e.Exit == nil, "exit")
	case Reaped:
		return lacks(e.Process == nil || e.Exit == nil, "process and exit")
	case StepBegun, StepEnded, StepSkipped:
		return lacks(e.Step == nil, "step")
	case SessionChanged:
		return lacks(e.Session == nil, "session")
	case Born:
		return lacks(e.Birth == nil, "birth")
	case RPC:
		return lacks(e.RPC == nil, "rpc")
	case Faulted:
		return lacks(e.Fault == nil, "fault")
	case CheckpointBegun, CheckpointEnded:
		return lacks(e.Checkpoint == nil, "checkpoint")
	case CensusTaken, Swept:
		return lacks(e.Census == nil, "census")
	case BystanderSeen:
		return lacks(e.Process == nil, "process")
	case Controlled:
		return lacks(e.Control == nil, "control")
	case Doubted:
		return lacks(e.Doubt == nil, "doubt")
	case Ended:
		return lacks(e.End == nil, "end")
	}
	return nil
}

// OfServer says that an event of this kind is about one fake server.
func (k Kind) OfServer() bool {
	switch k {
	case Born, Ready, RPC, Faulted, SawEOF, SawSignal, WroteStderr, Bye, Died, Lost:
		return true
	}
	return false
}

// Known says that this version knows the kind.
func (k Kind) Known() bool {
	switch k {
	case HostStarted, HostReady, HostExited, StepBegun, StepEnded, StepSkipped, SessionChanged, Reaped, CheckpointBegun, CheckpointEnded,
		CensusTaken, EvidenceTaken, Controlled, BystanderSeen, Swept, Doubted, Ended:
		return true
	}
	return k.OfServer()
}
