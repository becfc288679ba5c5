package record

import (
	"errors"
	"fmt"
)

// kinds are all that this version knows, with what an event of them must have:
// a server, a payload. The fields of the payload are named as a person reads them.
var kinds = map[Kind]struct {
	ofServer bool
	payload  string
	has      func(*Event) bool
}{
	HostStarted:     {payload: "process", has: hasProcess},
	HostReady:       {payload: "hello", has: func(e *Event) bool { return e.Hello != nil }},
	HostExited:      {payload: "exit", has: func(e *Event) bool { return e.Exit != nil }},
	StepBegun:       {payload: "step", has: hasStep},
	StepEnded:       {payload: "step", has: hasStep},
	StepSkipped:     {payload: "step", has: hasStep},
	SessionChanged:  {payload: "session", has: func(e *Event) bool { return e.Session != nil }},
	Born:            {ofServer: true, payload: "birth", has: func(e *Event) bool { return e.Birth != nil }},
	Ready:           {ofServer: true},
	RPC:             {ofServer: true, payload: "rpc", has: func(e *Event) bool { return e.RPC != nil }},
	Faulted:         {ofServer: true, payload: "fault", has: func(e *Event) bool { return e.Fault != nil }},
	SawEOF:          {ofServer: true},
	SawSignal:       {ofServer: true},
	WroteStderr:     {ofServer: true},
	Bye:             {ofServer: true},
	Died:            {ofServer: true},
	Lost:            {ofServer: true},
	Reaped:          {payload: "process and exit", has: func(e *Event) bool { return e.Process != nil && e.Exit != nil }},
	CheckpointBegun: {payload: "checkpoint", has: hasCheckpoint},
	CheckpointEnded: {payload: "checkpoint", has: hasCheckpoint},
	CensusTaken:     {payload: "census", has: hasCensus},
	EvidenceTaken:   {},
	Controlled:      {payload: "control", has: func(e *Event) bool { return e.Control != nil }},
	BystanderSeen:   {payload: "process", has: hasProcess},
	Swept:           {payload: "census", has: hasCensus},
	Doubted:         {payload: "doubt", has: func(e *Event) bool { return e.Doubt != nil }},
	Ended:           {payload: "end", has: func(e *Event) bool { return e.End != nil }},
}

func hasProcess(e *Event) bool    { return e.Process != nil }
func hasStep(e *Event) bool       { return e.Step != nil }
func hasCheckpoint(e *Event) bool { return e.Checkpoint != nil }
func hasCensus(e *Event) bool     { return e.Census != nil }

// Check says what an event of its kind lacks. Writer and reader both hold to
// it, so that whoever reads a run may use the fields that a kind fills. Kinds
// that are not known here pass: what a judge makes of them is its own business.
func (e *Event) Check() error {
	lacks := ""
	switch kind := kinds[e.Kind]; {
	case e.Kind == "":
		return errors.New("an event without a kind (or the header of a second run)")
	case kind.ofServer && e.Server == "":
		lacks = "server"
	case kind.has != nil && !kind.has(e):
		lacks = kind.payload
	}
	if lacks != "" {
		return fmt.Errorf("an event of kind %q without its %s", e.Kind, lacks)
	}
	return nil
}

// OfServer says that an event of this kind is about one fake server.
func (k Kind) OfServer() bool { return kinds[k].ofServer }

// Known says that this version knows the kind.
func (k Kind) Known() bool {
	_, known := kinds[k]
	return known
}
