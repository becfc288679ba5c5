package driver

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
)

// Protocol is the version of the driver protocol.
const Protocol = 1

// MaxLine is the longest line that either side accepts, in bytes, its newline left out.
const MaxLine = 4 << 20

// ErrLineTooLong is the error for a line of more than MaxLine bytes. The line is skipped: the next one can be read.
var ErrLineTooLong = fmt.Errorf("a line is longer than %d bytes", MaxLine)

// The operations.
const (
	OpOpen   = "open"   // connect Session to Server; on a session that is open already: connect anew, the old connection is superseded
	OpCall   = "call"   // call Tool on Session
	OpCancel = "cancel" // cancel the request with id Target, or the job of Session
	OpClose  = "close"  // end Session in an orderly way
	OpForget = "forget" // drop the client of Session without closing it: the host is done with the session
	OpReload = "reload" // the servers' configuration changed: each of Sessions moves to its new Server
	OpTick   = "tick"   // run Jobs in parallel, each with a session of its own, and answer when all have ended
	OpList   = "list"   // ask the server of Session for its What, and answer with their names
	OpShare  = "share"  // connect Session to Server, whose command line other sessions have, too: one process may serve them all
	OpStop   = "stop"   // end all sessions in an orderly way, answer, exit with 0
)

// Ops are all operations.
var Ops = []string{OpOpen, OpCall, OpCancel, OpClose, OpForget, OpReload, OpTick, OpShare, OpList, OpStop}

// Hello is a driver's first line: {"hello":{...}}. Serve fills in the protocol, and all operations of the Handler where Ops is nil.
type Hello struct {
	Protocol      int               `json:"protocol"`
	Host          string            `json:"host"`
	Version       string            `json:"version,omitempty"`
	Ops           []string          `json:"ops"`
	NotApplicable map[string]string `json:"not_applicable,omitempty"` // op -> why this host can't do it; Serve does not offer it
	Profile       *Profile          `json:"profile,omitempty"`
	Kind          string            `json:"kind,omitempty"` // what the host is: one of Kinds; findings then say whose duty it is
}

// Kinds are what a host may say that it is.
var Kinds = []string{KindLibrary, KindApplication, KindGateway}

// The kinds of hosts. They change no outcome.
const (
	KindLibrary     = "library"     // code that others embed
	KindApplication = "application" // a program that embeds one
	KindGateway     = "gateway"     // a program whose clients have the sessions
)

// Profile is what a host declares of itself: the delays that it is judged by.
// docs/use/driver-protocol.md says what stands for one that is 0.
type Profile struct {
	Settle  Duration `json:"settle,omitempty"`  // longest orderly teardown of one server
	Confirm Duration `json:"confirm,omitempty"` // longest time limit of a request
	Stop    Duration `json:"stop,omitempty"`    // longest orderly shutdown of the host
	Ladder  string   `json:"ladder,omitempty"`  // the teardown in words: "stdin close, 2 s, TERM, 3 s, KILL"
	// Resident is how many servers of a label the host means to keep when their sessions end: keep-alive, a pool.
	Resident int    `json:"resident,omitempty"`
	Scale    string `json:"scale,omitempty"` // by what factor its delays are shorter than in the field
	// Spare is how many servers of a label the host keeps connected besides those of its sessions, for the next one.
	Spare int `json:"spare,omitempty"`
	// Idle is after what time without a call the host ends the server of an open
	// session, in order, to launch it again at the next call.
	Idle Duration `json:"idle,omitempty"`
	// Renewal is how often the host gives an open session a new server, and ends the old one in order.
	Renewal Duration `json:"renewal,omitempty"`
	// Servers is PerRequest for a host that launches a server for each request, which must be gone when the request was answered.
	Servers string `json:"servers,omitempty"`
	// Reconnects is ByItself for a host that gives an open session another server when the one it had is gone, at the next call at the
	// latest, without being asked to open it again.
	Reconnects string `json:"reconnects,omitempty"`
}

// ByItself is the one value of Profile.Reconnects; without it a host may wait to be asked.
const ByItself = "itself"

// PerRequest is the one value of Profile.Servers; without it each session has a server.
const PerRequest = "per-request"

// Duration is a time.Duration that is text in JSON: "1.5s".
type Duration time.Duration

// D returns d as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

// String is d as [time.Duration] writes it.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// Server is how to launch an MCP server for one session.
type Server struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// SessionServer is a session and the server that it gets at a reload.
type SessionServer struct {
	Session string `json:"session"`
	Server  Server `json:"server"`
}

// Job is one of the parallel jobs of a tick: open a session, call a tool, end the session, whatever became of the call.
type Job struct {
	Session   string         `json:"session"`
	Server    Server         `json:"server"`
	Tool      string         `json:"tool"`
	Args      map[string]any `json:"args,omitempty"`
	TimeoutMS int64          `json:"timeout_ms,omitempty"` // of the call; 0: none
	// Probe says that the host is only to look at the server, in the way that it
	// has for it. A host that has none does the job as any other.
	Probe bool `json:"probe,omitempty"`
	// Signal is what a cancel of the job is where the job is a command: SIGTERM, SIGKILL, or CtrlC to its process group. "": the
	// host's usual one. A host that is no command cancels in its own way.
	Signal string `json:"signal,omitempty"`
}

// CtrlC is the Signal of a terminal: SIGINT to each process of the job's group.
const CtrlC = "ctrl-c"

// Request is one line to a driver, which Serve reads. Requests are answered when they are done, in any order.
type Request struct {
	ID        int64           `json:"id"`
	Op        string          `json:"op"`
	Session   string          `json:"session,omitempty"`
	Server    *Server         `json:"server,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Args      map[string]any  `json:"args,omitempty"`
	What      string          `json:"what,omitempty"`       // of a list: one of Lists
	TimeoutMS int64           `json:"timeout_ms,omitempty"` // the whole operation's, in the host; 0: the host's default
	Target    int64           `json:"target,omitempty"`
	Sessions  []SessionServer `json:"sessions,omitempty"`
	Jobs      []Job           `json:"jobs,omitempty"`
}

// JobResult is how a job of a tick ended.
type JobResult struct {
	Session string `json:"session"`
	OK      bool   `json:"ok"`
	Error   string `json:"error,omitempty"`
	// PID is that of a command that the job has started and that does not end: the bench looks at it, and ends it.
	PID int `json:"pid,omitempty"`
	// Unasked is why a command that the bench cancelled could not be asked to end. Nothing is known then of how it ends.
	Unasked string `json:"unasked,omitempty"`
	// NotPlayed is why the driver had no way to make the job's call.
	NotPlayed string `json:"not_played,omitempty"`
}

// NotPlayed is the error of a call that the driver has no way to make, such as that of a client whose methods it does not know. The bench
// asks for the rest of the scenario, and no verdict without a finding comes of it.
type NotPlayed struct{ Why string }

func (n *NotPlayed) Error() string { return n.Why }

// Unasked is the error of a job whose command could not be asked to end.
type Unasked struct{ Why error }

func (u *Unasked) Error() string { return "the command could not be asked to end: " + u.Why.Error() }
func (u *Unasked) Unwrap() error { return u.Why }

// Hung is the error of a job whose command does not end.
type Hung struct {
	PID    int
	Within time.Duration
}

func (h *Hung) Error() string {
	return fmt.Sprintf("the command did not exit within %s", duration.Text(h.Within))
}

// Response is one line from a driver, which Serve writes: Hello alone, or the answer to ID.
type Response struct {
	Hello  *Hello          `json:"hello,omitempty"`
	ID     int64           `json:"id,omitempty"`
	OK     bool            `json:"ok,omitempty"`
	Error  string          `json:"error,omitempty"`
	Result json.RawMessage `json:"result,omitempty"` // of a call: the text the tool returned; of a list: the names
	Jobs   []JobResult     `json:"jobs,omitempty"`   // of a tick
	// NotPlayed is why the driver has no way to make a call.
	NotPlayed string `json:"not_played,omitempty"`
}
