package ledger

import "encoding/json"

// The birth socket speaks JSON lines both ways. A server's first line is its
// Certificate, the ledger's first line is a Welcome; after that the server
// sends Notes and the ledger sends Orders, each whenever it has one. The end
// of the connection is the server's death to the ledger, and the bench's death
// to the server.

// Certificate is what a newborn server says of itself.
type Certificate struct {
	Run     string `json:"run"`
	Label   string `json:"label"`
	Session string `json:"session,omitempty"`
	PID     int    `json:"pid"`
	PPID    int    `json:"ppid"`
	PGID    int    `json:"pgid"`
	SID     int    `json:"sid"`
}

// Welcome tells a server which launch of its label it is and what to do wrong.
// Script is opaque here: only the server knows what a fault means.
type Welcome struct {
	Launch int             `json:"launch"`
	Script json.RawMessage `json:"script,omitempty"`
	Error  string          `json:"error,omitempty"` // the server must exit: wrong run, unknown label
}

// Note kinds: what a server tells of itself while it lives.
const (
	NoteReady  = "ready"  // the script is in force and stdin is being read
	NoteRPC    = "rpc"    // Data is a record.RPCInfo
	NoteFault  = "fault"  // Data is a record.Fault, sent before it is committed
	NoteEOF    = "eof"    // the end of stdin was read
	NoteSignal = "signal" // Text is the signal's name
	NoteBye    = "bye"    // cleanup is done, the server exits by itself; Text says why
	NoteRefuse = "refuse" // an order could not be obeyed; Text says why
)

// Note is one line from a server.
type Note struct {
	Note string          `json:"note"`
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

// Order is one line to a server. Do is opaque here: a fakeserver.Fault.
type Order struct {
	Do json.RawMessage `json:"do"`
}
