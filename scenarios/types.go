package scenarios

import (
	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// Scenario is a play: which servers there are and what they do wrong, what the host is asked to do, and when the
// state must be right. It is data; how it is played is the runner's business, how it is judged the verdict's.
type Scenario struct {
	Name    string       // [a-z0-9-]+, also the file's name without .yaml
	Title   string       // one line
	About   string       // a paragraph: what it reproduces, what a correct host does
	Reports []string     // ids of the field reports ("R001") or of failure modes ("F3") it reproduces
	Laws    []string     // what it is about: without evidence on each of these a run of it is not clean
	Level   record.Level // what it asks of a host
	Rows    []record.Row // of the specification, that it plays
	Tags    []string     // what it can be chosen by
	Servers []Server     // in the order of the file
	Place   record.Place // where the host lives
	Limits  record.Limits
	Steps   []Step

	File   string // where it was read from; "storm.yaml" for a built-in one
	Source string // the text

	// The rest is set by Cast.

	Part    string  // the one server that the host is given of several; "": it is given all
	Ability Ability // what can be asked of the host
	Omitted Omitted // what is left out for that
}

// TagQuick is the tag of a scenario that takes less than two seconds on a host which keeps all laws.
const TagQuick = "quick"

// Server is a fake server that the host is given under a label.
type Server struct {
	Label  string
	Script fakeserver.Script
	// Optional servers need not be launched for the run to mean something.
	Optional bool
}

// Step is one line of the play. Which fields mean something depends on Op.
type Step struct {
	Op      record.Op
	Session string
	Label   string // open, reload; break: of the session, or the label itself
	Tool    string
	What    string // list: resources or prompts; "" is the tools
	Args    map[string]any
	Timeout record.Duration // the host's own time limit for this; 0: its default
	Expect  record.Expect   // default: ok
	// Shared is an open of a session whose server entry others use, too: its command line is the same for all of them.
	Shared bool
	// If is IfLost, or "", of an open.
	If string
	// Cancel cancels a call, or an open, as soon as the server has received it.
	Cancel bool
	Twice  bool             // cancel it a second time
	For    string           // await: AwaitCall or AwaitConnect
	With   fakeserver.Fault // break; On is "order"
	Jobs   []Job
	After  record.Op       // restart: how it ends: "" (SIGTERM), record.OpStop, record.OpKill
	Grace  record.Duration // restart after SIGTERM: SIGKILL after this; 0: Limits.Stop
	Name   string          // checkpoint
	Live   map[string]int  // checkpoint: overrides what the open sessions say
	Count  int             // repeat
	Steps  []Step          // repeat; tick: what happens while the jobs run
	Lanes  [][]Step        // parallel
	// Defining says that a run without this step shows nothing of what the scenario is about.
	Defining bool
	// Patient is a call, or an open, for which the host gets no time limit: it is left to its own, for Limits.Patience.
	Patient bool
	// CancelAfter is how long after the request is in the server it is cancelled; 0: at once.
	CancelAfter record.Duration

	// Cycle is set by Expand in the last step of each repetition of a repeat that is not part of another step.
	Cycle *record.Cycle

	Line, Column int // where it stands in the file
	// m is the mapping that it was read from, and subject the op's value in it.
	m, subject *yamlfile.Node
}

// lanes are the steps inside the step.
func (s *Step) lanes() [][]Step { return append([][]Step{s.Steps}, s.Lanes...) }

// IfLost is the condition of an open that is asked for only where the host did not give the session a working server again by itself.
const IfLost = "lost"

// What an await may wait for.
const (
	AwaitCall    = "call"    // a call is in the session's server
	AwaitConnect = "connect" // a fault of the server keeps the handshake waiting
)

// Job is a group of parallel jobs of a tick, each with a session of its own.
type Job struct {
	Count   int // default 1
	Label   string
	Tool    string // default echo
	Args    map[string]any
	Timeout record.Duration // the host cuts the call off after this
	Cancel  bool            // the bench cancels the job once its call is in the server, or a fault holds up its handshake or its list
	Signal  string          // what the cancel is to a command; see driver.Job
	Probe   bool            // the host only looks at the server, in the way that it has for it
	Expect  record.Expect   // default: ok; fail where Timeout or Cancel cut it off
}

// What is what the job does, in a word.
func (j Job) What() string {
	switch {
	case j.Probe:
		return record.DetailProbe
	case j.Tool == "":
		return "echo"
	}
	return j.Tool
}
