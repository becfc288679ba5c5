// Package birth is the wire between a fake server and the bench's ledger, and the server's end of it.
//
// It must stay as light as it is: fake servers dispatch from init, and Go initialises a package once its own imports
// are, in the order of import paths. With package net or package record among them, a server inside the full binary
// would first have to sit through half of the bench's packages.
package birth

import "encoding/json"

// MaxLine caps a line on the birth socket, in bytes.
const MaxLine = 1 << 20

// The birth socket speaks JSON lines both ways. A server's first line is its Certificate, the ledger's first line is
// a Welcome; after that the server sends Notes and the ledger sends Orders, each whenever it has one. The end of the
// connection is the server's death to the ledger, and the bench's death to the server.

// Roles of who dials. Only a server is born on the ledger. The others must be found by the census, as what no ledger
// line covers; the connection is there for them to end when the bench does.
const (
	RoleServer = "" // the default
	// A launcher asks for the script and a launch number on behalf of the server that it is about to start. Each of
	// its notes is answered by an empty Order.
	RoleLauncher = "launcher"
	// A twin has the command line of a server and is none: the bench's own.
	RoleTwin   = "twin"
	RoleHelper = "helper" // a child of a server: the connection tells it nothing but the end of the bench
	// A server that was started with arguments that it can't read says so in a Misstart, and is gone.
	RoleMisstarted = "misstarted"
)

// Certificate is what a newborn server says of itself.
type Certificate struct {
	Role   string `json:"role,omitempty"`
	Launch int    `json:"launch,omitempty"` // the launch that a launcher was given for this server

	Run     string `json:"run"`
	Label   string `json:"label"`
	Session string `json:"session,omitempty"`
	PID     int    `json:"pid"`
	PPID    int    `json:"ppid"`
	PGID    int    `json:"pgid"`
	SID     int    `json:"sid"`
	// DeathSignal is the number of its parent death signal, or 0 (PR_GET_PDEATHSIG of prctl(2)).
	DeathSignal int `json:"death_signal,omitempty"`
}

// Misstart is what a server says whose arguments are not those that the bench gave: its host has changed them.
type Misstart struct {
	Certificate
	Args  []string `json:"args"` // those after the program, as they arrived
	Error string   `json:"error"`
}

// Complaint is what a server says that can't reach the ledger's socket, at the address Complaints.
type Complaint struct {
	Certificate
	UID   int    `json:"uid"`
	Path  string `json:"path"`
	Gone  bool   `json:"gone,omitempty"` // there is no socket at this path
	Error string `json:"error"`
}

// Welcome tells a server which launch of its label it is and what to do wrong. Script is opaque here: only the server
// knows what a fault means. Seed is the run's, for what a script leaves to chance.
type Welcome struct {
	Launch int             `json:"launch"`
	Seed   uint64          `json:"seed,omitempty"`
	Script json.RawMessage `json:"script,omitempty"`
	Error  string          `json:"error,omitempty"` // the server must exit: wrong run, unknown label
}

// Note kinds: what a server tells of itself while it lives.
const (
	NoteReady  = "ready"  // the script is in force and stdin is being read
	NoteRPC    = "rpc"    // Data is an RPC
	NoteFault  = "fault"  // Data is a Fault, sent before it is committed
	NoteEOF    = "eof"    // the end of stdin was read
	NoteSignal = "signal" // Text is the signal's name
	NoteBye    = "bye"    // cleanup is done, the server exits by itself; Text says why
	NoteStderr = "stderr" // Text is what it is about to write to stderr, cut short
	NoteOpens  = "opens"  // the first request of a session has come; the answer is an Order with Opens
	NoteRefuse = "refuse" // an order could not be obeyed; Text says why
)

// Note is one line from a server.
type Note struct {
	Note  string          `json:"note"`
	Text  string          `json:"text,omitempty"`
	At    int64           `json:"at,omitempty"`    // when it was written, by the server's clock: nanoseconds since 1970
	Stdin string          `json:"stdin,omitempty"` // with a signal: "open" or "closed", at that moment
	Data  json.RawMessage `json:"data,omitempty"`
}

// Order is one line to a server. Do is opaque here: a fakeserver.Fault.
type Order struct {
	Do json.RawMessage `json:"do"`
	// Opens says which server of its label it is, of those that were asked to open a session: 1 is the first.
	Opens int `json:"opens,omitempty"`
}

// RPC and Fault have the shape of record.RPCInfo and record.Fault, which a test of the ledger asserts. They are not
// those types: with package record among its imports, a server in the full binary comes after three packages of the
// judge, and the answer to its first request was 0.06 to 0.2 ms later (of 2.6 ms).

// RPC is a message between the host and the server: a record.RPCInfo.
type RPC struct {
	Method string `json:"method"`
	ID     string `json:"id,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Phase  string `json:"phase"` // "received", "answered", "refused"

	Session string `json:"session,omitempty"`
	Own     bool   `json:"own,omitempty"`
	Nonce   string `json:"nonce,omitempty"`
}

// NonceWord begins what NonceMark adds.
const NonceWord = "\nnonce "

// NonceMark is what a fake server adds to the text of a result for the nonce of its call.
func NonceMark(nonce string) string {
	if nonce == "" {
		return ""
	}
	return NonceWord + nonce
}

// ClientPrefix begins the name that a client of the bench's own gives itself in its handshake. What follows is the
// name of its session, for which alone the server is.
const ClientPrefix = "leakbench:"

// Fault is a fault that the server is about to commit: a record.Fault.
type Fault struct {
	On      string `json:"on"`
	Do      string `json:"do"`
	Detail  string `json:"detail,omitempty"`
	Passive bool   `json:"passive,omitempty"`
	Breaks  bool   `json:"breaks,omitempty"`
	Targets []int  `json:"targets,omitempty"`
	Launch  int    `json:"launch,omitempty"`
}
