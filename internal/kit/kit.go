// Package kit has the messages between the bench and a library for tests, in Go or in another language. Each is a line of JSON:
// docs/use/kit-protocol.md. Tests of other modules link it, so it imports nothing but the standard library.
package kit

import "encoding/json"

// What a library may ask. Each request is answered once, with its ID, in any order. The end of the requests ends all labs, and kills
// what is left of them.
const (
	DoServer   = "server"   // a server of the lab Name, which begins with its first one
	DoAlive    = "alive"    // how many servers of the lab are, as they tell it themselves: N
	DoFlat     = "flat"     // N servers of each
	DoClose    = "close"    // the lab
	DoPlay     = "play"     // Scenario against a client in the asking process, or against Driver
	DoChildren = "children" // what is below the asking process, less Known
)

// Waiting begins a line that the bench writes to stderr while it waits, so that nobody sits before a silent terminal.
const Waiting = "leakbench: waiting in "

// Request is a line from the library.
type Request struct {
	ID       int64     `json:"id"`
	Do       string    `json:"do,omitempty"`
	Name     string    `json:"name,omitempty"`
	Out      string    `json:"out,omitempty"`    // folder for runs
	Faults   []string  `json:"faults,omitempty"` // of a server
	N        int       `json:"n,omitempty"`
	Scenario string    `json:"scenario,omitempty"`
	Driver   *Driver   `json:"driver,omitempty"` // the host of a play: a program instead of the asking process
	Settle   float64   `json:"settle,omitempty"` // seconds
	Confirm  float64   `json:"confirm,omitempty"`
	Fast     bool      `json:"fast,omitempty"`
	Known    []Process `json:"known,omitempty"`
	Mark     string    `json:"mark,omitempty"`     // children: what is in the environment of orphans: NAME=VALUE
	Launched []Launch  `json:"launched,omitempty"` // children: where the library knows processes to have been launched

	// A line of a driver, of the play with this ID.
	From json.RawMessage `json:"from_driver,omitempty"`
}

// Launch says where in the tests a process was launched.
type Launch struct {
	PID int    `json:"pid"`
	At  string `json:"at"` // "test_client.py:12", for a person
}

// Driver is a program that speaks the driver protocol.
type Driver struct {
	Argv []string `json:"argv"`
	Env  []string `json:"env,omitempty"` // NAME=VALUE, beside what the bench has
}

// Answer is a line from the bench.
type Answer struct {
	ID      int64     `json:"id"`
	Error   string    `json:"error,omitempty"`    // nothing was tested
	OwnHost bool      `json:"own_host,omitempty"` // with Error: the scenario needs a Driver
	Outcome string    `json:"outcome,omitempty"`  // of what has failed: "leak" or "inconclusive"
	Text    string    `json:"text,omitempty"`
	Page    string    `json:"page,omitempty"`
	Argv    []string  `json:"argv,omitempty"`
	N       int       `json:"n,omitempty"` // servers that are alive
	Left    []Process `json:"left,omitempty"`

	// Begin starts a driver for the play with this ID, To is a line for it, and End ends it.
	Begin bool            `json:"begin,omitempty"`
	To    json.RawMessage `json:"to_driver,omitempty"`
	End   bool            `json:"end,omitempty"`
}

// Process is one that is left. PID and Start alone say which one it is.
type Process struct {
	PID     int      `json:"pid"`
	Start   uint64   `json:"start"`
	PPID    int      `json:"ppid,omitempty"`
	Command []string `json:"command,omitempty"` // without secrets; empty for a zombie
	State   string   `json:"state,omitempty"`   // as ps has it
}

// Is reports whether both are the same process.
func (p Process) Is(other Process) bool { return p.PID == other.PID && p.Start == other.Start }
