package record

import "strconv"

// Kind names what an event says.
type Kind string

// The kinds of events. The fields each one fills are in brackets.
const (
	// HostStarted: the keeper started the host [Process]. Where there are
	// several, each one begins a life of the host: it was restarted.
	HostStarted Kind = "host-started"
	// HostReady: the host said hello, or a command host was started [Hello].
	HostReady Kind = "host-ready"
	// HostExited: the keeper reaped the host [Exit].
	HostExited Kind = "host-exited"
	// StepBegun, StepEnded, StepSkipped frame what the bench asked for [Step].
	StepBegun   Kind = "step-begun"
	StepEnded   Kind = "step-ended"
	StepSkipped Kind = "step-skipped"
	// SessionChanged: what the host is entitled to keep alive [Session].
	SessionChanged Kind = "session"
	// Born: a fake server handed in its birth certificate [Server, Birth].
	Born Kind = "born"
	// Ready: a fake server has its script and reads stdin [Server].
	Ready Kind = "ready"
	// RPC: a protocol message that the server read or answered [Server, RPC].
	RPC Kind = "rpc"
	// Faulted: a fault that the server is about to commit [Server, Fault].
	Faulted Kind = "fault"
	// SawEOF: the server read the end of stdin [Server].
	SawEOF Kind = "eof"
	// SawSignal: the server caught a signal [Server, Signal; Text: StdinOpen or StdinClosed, at that moment, where it can tell].
	SawSignal Kind = "signal"
	// WroteStderr: the server is about to write to stderr [Server, Text: what, cut short].
	WroteStderr Kind = "stderr"
	// WroteStdout: a server under test wrote something to stdout that is no message [Text: what, cut short].
	WroteStdout Kind = "stdout"
	// Bye: the server finished its cleanup and exits by itself [Server, Text].
	Bye Kind = "bye"
	// Died: the server's ledger connection ended and its process is gone [Server].
	Died Kind = "died"
	// Lost: the ledger connection ended but the process was still there [Server, Text].
	Lost Kind = "lost"
	// Reaped: the keeper reaped a process that came home to it [Process, Exit].
	Reaped Kind = "reaped"
	// CheckpointBegun, CheckpointEnded frame a checkpoint [Checkpoint].
	CheckpointBegun Kind = "checkpoint-begun"
	CheckpointEnded Kind = "checkpoint-ended"
	// CensusTaken: the process table below the keeper [Census].
	CensusTaken Kind = "census"
	// EvidenceTaken: what is known of the survivors of a checkpoint [Evidence].
	EvidenceTaken Kind = "evidence"
	// Controlled: how a server behaves without the host [Control].
	Controlled Kind = "control"
	// BystanderSeen: a process that is none of the host's. Text says which: "", it stands in the host's group;
	// StandsAsTwin: it has the command line of the server whose label is in Server; StandsRecycled: it has got the
	// pid of the dead server in Server. With Exit: it ended before the keeper swept it [Process, Exit, Text, Server].
	BystanderSeen Kind = "bystander"
	// Swept: what the keeper had to kill after the host was gone [Census].
	Swept Kind = "swept"
	// Doubted: something the bench itself could not do or see [Doubt].
	Doubted Kind = "doubt"
	// Ended: the last line of a complete run [End].
	Ended Kind = "end"
)

// Texts of a BystanderSeen that does not stand in the host's group.
const (
	StandsAsTwin   = "twin"     // it has a server's command line
	StandsRecycled = "recycled" // it has got the pid of a dead server, in the host's namespace
)

// Event is one line of a run file after the header. Seq counts from 1 without
// a gap, and T never decreases: both are stamped under one lock.
type Event struct {
	Seq  int64 `json:"seq"`
	T    int64 `json:"t"` // nanoseconds since Header.Started, monotonic
	Kind Kind  `json:"kind"`

	Server string `json:"server,omitempty"` // "flaky#2": label and launch number, unique in a run
	Signal string `json:"signal,omitempty"` // "SIGTERM"
	Text   string `json:"text,omitempty"`

	Birth      *Birth      `json:"birth,omitempty"`
	RPC        *RPCInfo    `json:"rpc,omitempty"`
	Fault      *Fault      `json:"fault,omitempty"`
	Step       *Step       `json:"step,omitempty"`
	Session    *Session    `json:"session,omitempty"`
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
	Process    *Process    `json:"process,omitempty"`
	Hello      *Hello      `json:"hello,omitempty"`
	Exit       *Exit       `json:"exit,omitempty"`
	Census     *Census     `json:"census,omitempty"`
	Evidence   []Evidence  `json:"evidence,omitempty"`
	Control    *Control    `json:"control,omitempty"`
	Doubt      *Doubt      `json:"doubt,omitempty"`
	End        *End        `json:"end,omitempty"`
}

// Identity is a process for good: a pid alone is reused, a pid with its start time is not.
type Identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // Linux: clock ticks since boot; elsewhere: milliseconds since 1970
}

// Birth is a fake server's birth certificate. Identity is what the kernel
// attests of the peer, the rest is what the server says of itself.
type Birth struct {
	Identity
	PPID    int    `json:"ppid"`
	PGID    int    `json:"pgid"`
	SID     int    `json:"sid"`
	Label   string `json:"label"`
	Session string `json:"session,omitempty"` // the session it was launched for, where the host's driver told it
	Launch  int    `json:"launch"`            // 1 is the first of its label in this run
	Claimed int    `json:"claimed,omitempty"` // the pid it claims, where that differs (pid namespace)
	// DeathSignal is the number of the signal that it gets when the thread which launched it ends (PR_SET_PDEATHSIG on Linux), or 0.
	DeathSignal int `json:"death_signal,omitempty"`
}

// RPCInfo is a message between the host and a fake server, seen by the server.
type RPCInfo struct {
	Method Method `json:"method"`
	ID     string `json:"id,omitempty"`   // the request's id as JSON; empty for a notification
	Tool   string `json:"tool,omitempty"` // of a tools/call
	Phase  Phase  `json:"phase"`
	// Session is the session that the message names, where it comes through a gateway from a client of the bench's
	// own. Own says that the server is for that session alone.
	Session string `json:"session,omitempty"`
	Own     bool   `json:"own,omitempty"`
	// Nonce, of a call that the bench asked for, is its own: the number of the step. It says which call reached which server, and how often.
	Nonce string `json:"nonce,omitempty"`
}

// Fault is a fault that a server announced before it committed it.
type Fault struct {
	On      Moment `json:"on"`
	Do      Action `json:"do"`
	Detail  string `json:"detail,omitempty"`
	Passive bool   `json:"passive,omitempty"` // it only refuses to react (ignores EOF, SIGTERM)
	// Breaks says that no working session can be expected of this server any
	// more: what the host does to it from here on is no collateral damage.
	Breaks bool `json:"breaks,omitempty"`
	// Targets are the pids of other servers that this one is about to signal: what becomes of them then is not the host's doing.
	Targets []int `json:"targets,omitempty"`
	// Launch is by which number the fault's launch was counted, where that is not
	// the server's own: launches count from their first request of a session.
	Launch int `json:"launch,omitempty"`
}

// Step is one thing that the bench asked for. N is the same in its begun, ended and skipped events.
type Step struct {
	N       int    `json:"n"`
	Op      Op     `json:"op"`
	Session string `json:"session,omitempty"`
	Label   string `json:"label,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Expect  Expect `json:"expect,omitempty"`
	OK      bool   `json:"ok,omitempty"`
	Error   string `json:"error,omitempty"` // why it failed, or why it was skipped
	// Answer, of a step that was to fail and did not, is the beginning of what the host has answered.
	Answer string   `json:"answer,omitempty"`
	Took   Duration `json:"took,omitempty"`
	// Grace, of a step that asks the host to end, is after what time the bench kills it; 0 is Limits.Stop.
	Grace Duration `json:"grace,omitempty"`
	// Limit is the time limit that the host was given for a call.
	Limit Duration `json:"limit,omitempty"`
	// Patience, of a step whose host was given no time limit, is how long the bench waits for the host's own. The step ended with an error
	// when the host gave up. It was skipped where the host had no limit in that time, and the bench cancelled it, if the host takes that.
	Patience Duration `json:"patience,omitempty"`
	// Uncut says that the bench was to cancel the step in flight, and that it had ended before it got there.
	Uncut bool `json:"uncut,omitempty"`
	// Cancelled says that the bench has cancelled the step in flight.
	Cancelled bool `json:"cancelled,omitempty"`
	// Unasked, of a skipped step, says that the host does this by itself: a command opens its session without being asked.
	Unasked bool `json:"unasked,omitempty"`
	// NotPlayed, of a skipped step, says that the driver has no way to make this call.
	NotPlayed bool `json:"not_played,omitempty"`
	// Defining says that a run without this step shows nothing of what the scenario is about.
	Defining bool `json:"defining,omitempty"`
	// Reconnect, of an open that is needed only where a session was lost, says how the session came back.
	Reconnect Reconnects `json:"reconnect,omitempty"`
}

// MustWork says that the scenario expects the step to succeed.
func (s *Step) MustWork() bool { return s.Expect == "" || s.Expect == ExpectOK }

// Reconnects is who gives a session that has lost its server another one.
type Reconnects string

// The values.
const (
	ByItself Reconnects = "itself" // the host, without being asked
	ByOpen   Reconnects = "open"   // the host, once it was asked to open the session
)

// SessionState is what a host owes to a session.
type SessionState string

// The states, in the order a session passes through them. A session may go back from open to opening (reconnect).
const (
	SessionOpening SessionState = "opening" // the host was asked to connect: its server may be there
	SessionOpen    SessionState = "open"    // the host said it is connected: its newest server must live
	SessionEnding  SessionState = "ending"  // the host was asked to end it, or cancelled: its server may go
	SessionEnded   SessionState = "ended"   // the host said it is done: its servers must go
)

// Session is a change in what the host is entitled to keep alive.
type Session struct {
	Name  string       `json:"name"`
	Label string       `json:"label"`
	State SessionState `json:"state"`
	// Cut says that the scenario itself cuts this session short (time-out,
	// cancel): a call of it that is killed in flight is no collateral damage.
	Cut bool `json:"cut,omitempty"`
	Why Why  `json:"why,omitempty"`
}

// Want is how many servers a checkpoint wants alive: exactly the newest Live ones of the group, or at most that many
// where the host's sessions are not known to the bench.
type Want struct {
	Label   string `json:"label"`
	Session string `json:"session,omitempty"` // "" is every server of the label that no other Want covers
	Live    int    `json:"live"`
	AtMost  bool   `json:"at_most,omitempty"`
	// Spare is how many more of the group may live, if they work: the host means to keep them. They need not.
	Spare int `json:"spare,omitempty"`
	// Together is how many the host launches for one connection, where that is more than one: so many of the group
	// may live, if they were launched side by side.
	Together int `json:"together,omitempty"`
}

// Checkpoint is a moment at which the state must be right within the settle
// time. In CheckpointEnded, Waited says how long it took.
type Checkpoint struct {
	Name     string   `json:"name"`
	HostGone bool     `json:"host_gone,omitempty"` // the host has ended: L2, not L1
	Wants    []Want   `json:"wants"`
	Quiet    bool     `json:"quiet,omitempty"`  // the wanted state was reached and held
	Waited   Duration `json:"waited,omitempty"` // from the begin to quiet, or to the end of the watch
	// Stretched is how much longer than Limits.Settle it was waited, since the bench was starved of processors:
	// Starved is the share of the time in which it wanted one and had none.
	Stretched Duration `json:"stretched,omitempty"`
	Starved   float64  `json:"starved,omitempty"`
	// Early says why the survivors were not watched for as long as the limits say, or "".
	Early EarlyEnd `json:"early,omitempty"`
}

// Process is a row of a census.
type Process struct {
	Identity
	PPID    int      `json:"ppid"`
	PGID    int      `json:"pgid"`
	SID     int      `json:"sid"`
	State   State    `json:"state"` // R S D Z T ...
	Comm    string   `json:"comm"`
	Args    []string `json:"args,omitempty"` // capped and redacted; empty for a zombie
	RSS     int64    `json:"rss"`            // bytes
	FDs     int      `json:"fds"`            // -1 where it can't be seen
	Threads int      `json:"threads,omitempty"`
	CPU     Duration `json:"cpu"` // user and system time together
	// IO is what it has read and written so far, of a host that is watched from outside. It may be some seconds older than the
	// row; nil where that can't be seen, and in any other run.
	IO *IO `json:"io,omitempty"`
}

// IO counts the bytes that a process has read and written by any call: pipes, sockets that read(2) serves, files.
type IO struct {
	Read  int64 `json:"read"`
	Wrote int64 `json:"wrote"`
}

// Handles are what a host that is watched from outside holds of processes.
type Handles struct {
	Dangling int `json:"dangling"`         // pipe ends whose other end no process holds
	PIDFDs   int `json:"pidfds"`           // of processes that were waited for
	Living   int `json:"living,omitempty"` // pidfds of processes below it that are there
}

// CensusRole says when and why a census was taken.
type CensusRole string

// The roles.
const (
	CensusSample  CensusRole = "sample"  // in between: curves
	CensusSettled CensusRole = "settled" // the checkpoint's state at quiet, or when the settle time ran out
	CensusConfirm CensusRole = "confirm" // when the watch after that ended
	CensusCycle   CensusRole = "cycle"   // at the end of one repetition of a repeat: growth
	// CensusStarted is taken when the host has come up and was not asked for anything yet: what is there is its own.
	CensusStarted CensusRole = "started"
	// CensusHandover is taken between two lives of the host: all that is there has been left by the one that has ended.
	CensusHandover CensusRole = "handover"
)

// Census is the process table below the keeper, the keeper left out.
type Census struct {
	Role       CensusRole `json:"role,omitempty"`
	Checkpoint string     `json:"checkpoint,omitempty"`
	Cycle      *Cycle     `json:"cycle,omitempty"`
	Processes  []Process  `json:"processes"`
	Host       *Process   `json:"host,omitempty"` // the host itself, where it lives
	Load       *Load      `json:"load,omitempty"`
}

// Load is what the processors did so far: for the bench itself since it was
// started, and for the processes of a census since each of them was.
type Load struct {
	Ran     Duration `json:"ran"`     // the bench had a processor
	Delayed Duration `json:"delayed"` // it wanted one and had to wait (schedstat); 0 where that can't be seen
	Own     Duration `json:"own"`     // the processes of the run had one
	// Waited is how long the processes of the run, those that spin left out, wanted a processor and had to wait for one;
	// nil where that can't be seen.
	Waited *Duration `json:"waited,omitempty"`
	// Late is the most by which the bench has woken up too late, of the last half second at least.
	Late Duration `json:"late,omitempty"`
}

// Excuse is by how much longer than on a machine that gets round to everything something may have taken since an earlier load:
// whoever had a part in it has waited for a processor that long, and the bench may have been late to ask for it and late to
// see it, each time by late at the most. It is not known where it is not known how long the run has waited.
func (l *Load) Excuse(since Load, late Duration) (most Duration, known bool) {
	if l.Waited == nil || since.Waited == nil {
		return 0, false
	}
	return *l.Waited - *since.Waited + 2*late, true
}

// Control is how the server of a label behaved when the bench itself launched it once, without the host: asked for
// its handshake, then given the end of stdin. It plays the faults that its script has for every launch. It is no
// server of the run: it has no birth, no launch number and no place in a census.
type Control struct {
	Label    string   `json:"label"`
	Answered bool     `json:"answered"`         // the handshake
	Faults   []Fault  `json:"faults,omitempty"` // that it announced
	SawEOF   bool     `json:"saw_eof,omitempty"`
	Exited   bool     `json:"exited,omitempty"` // by itself, after the end of stdin
	After    Duration `json:"after"`            // the end of stdin: it exited, or it was no longer watched
}

// Cycle is one repetition of a repeat of the scenario.
type Cycle struct {
	Series int `json:"series"` // which repeat: 1 is the first of the scenario
	N      int `json:"n"`      // which repetition of it, from 1
	// Quiet says that nothing was there that should not be: what the host holds it holds for the sessions that are open.
	Quiet bool `json:"quiet,omitempty"`
}

// Holder is a process that holds the other end of a descriptor.
type Holder struct {
	Identity
	FD   int        `json:"fd"`
	Mode string     `json:"mode"` // "read", "write", "both"
	Role HolderRole `json:"role"`
	// Handle says that FD is a handle (Windows).
	Handle bool `json:"handle,omitempty"`
}

// At names the descriptor: "fd 3".
func (h Holder) At() string {
	if h.Handle {
		return "handle " + strconv.Itoa(h.FD)
	}
	return "fd " + strconv.Itoa(h.FD)
}

// Descriptor is one of a process's fds 0, 1 and 2.
type Descriptor struct {
	FD      int      `json:"fd"`
	Target  string   `json:"target"` // "pipe:[123]", "socket:[456]", "/dev/null"
	Mode    string   `json:"mode,omitempty"`
	Holders []Holder `json:"holders,omitempty"` // who holds the other end; empty with Known: nobody
	Known   bool     `json:"known"`             // every process of this user could be looked into
}

// Null says that it leads nowhere.
func (d Descriptor) Null() bool { return d.Target == "/dev/null" || d.Target == "NUL" }

// Evidence is all that is known of a survivor.
type Evidence struct {
	Process
	Server      string       `json:"server,omitempty"` // where the ledger knows it
	Exe         string       `json:"exe,omitempty"`
	Wchan       string       `json:"wchan,omitempty"`
	Syscall     string       `json:"syscall,omitempty"` // "read(0)", "futex", or "" where it can't be seen
	Descriptors []Descriptor `json:"descriptors,omitempty"`
	SigPending  []string     `json:"sig_pending,omitempty"`
	SigIgnored  []string     `json:"sig_ignored,omitempty"`
	SigCaught   []string     `json:"sig_caught,omitempty"`
	Age         Duration     `json:"age,omitempty"`
	// Parent says what became of the parent where a pid outlives its process (Windows): "pid 408 has ended".
	Parent string `json:"parent,omitempty"`
	// Job says whose job object it is in, other than the keeper's (Windows): "a job of host.exe (pid 408)".
	Job    string   `json:"job,omitempty"`
	Unseen []string `json:"unseen,omitempty"` // what could not be read, and why

	// The rest is of a host that is watched from outside, and of what is below it.

	Cgroup string `json:"cgroup,omitempty"`
	// Idle is how long no thread of it has run that can read stdin; nil if that is not known.
	Idle *Duration `json:"idle,omitempty"`
	// ReadAgo is how long before Age and Idle the rest was read: nothing of what came between is in it. IO is of before that. Files of
	// older versions have neither.
	ReadAgo *Duration `json:"read_ago,omitempty"`
	Handles *Handles  `json:"handles,omitempty"` // of the host alone
}

// Hello is what a host says of itself when it is ready.
type Hello struct {
	Host          string            `json:"host"`
	Version       string            `json:"version,omitempty"`
	Ops           []string          `json:"ops,omitempty"`
	NotApplicable map[string]string `json:"not_applicable,omitempty"` // op -> reason
	// Profile and Limits are there where the host declared delays that the
	// header could not know yet; they take the place of the header's.
	Profile *Profile `json:"profile,omitempty"`
	Limits  *Limits  `json:"limits,omitempty"`
	// Kind is what the host says that it is: a library, an application or a gateway.
	Kind Duty `json:"kind,omitempty"`
}

// PerRequest says that the host has said that it launches a server for each request.
func (h *Hello) PerRequest() bool { return h.Profile != nil && h.Profile.Servers == PerRequest }

// Duty is what a host is, for who reads whose duty it is to end a server. It changes no verdict.
type Duty string

// What a host may be.
const (
	DutyLibrary     Duty = "library"
	DutyApplication Duty = "application"
	DutyGateway     Duty = "gateway"
)

// Exit is how a process ended.
type Exit struct {
	Code   int    `json:"code"`             // -1 when it was killed by a signal
	Signal string `json:"signal,omitempty"` // "SIGKILL"
	Asked  bool   `json:"asked,omitempty"`  // the bench had asked the host to end
}

// End closes a run. A file without one is truncated.
type End struct {
	Reason EndReason `json:"reason"`
	Signal string    `json:"signal,omitempty"` // of an interrupted run
	Error  string    `json:"error,omitempty"`
	Stage  EndStage  `json:"stage,omitempty"` // of a failed run: StageHost (exit 4), StageKeeper or StageProgram (3), or StageBench (70)
}
