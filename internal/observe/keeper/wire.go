package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/record"
)

// The keeper's socket speaks JSON lines. Its end, whatever the cause, is the
// bench's death to the keeper, which then sweeps and exits.

// Commands of the bench.
const (
	cmdStart    = "start"    // start the host; the fds for its stdin and stdout ride along
	cmdSignal   = "signal"   // signal Of[0], if it is still that process and below the keeper
	cmdCensus   = "census"   // take a census
	cmdEvidence = "evidence" // examine Of
	cmdAttach   = "attach"   // watch a host that is there already
	cmdTwin     = "twin"     // start a process that is none of the host's, in a session of its own
	cmdRecycle  = "recycle"  // have a process of a pid that was another's
	cmdSweep    = "sweep"    // kill everything below the keeper, say what it was
)

// command is one line to the keeper. Replies carry the same ID.
type command struct {
	ID  int64  `json:"id"`
	Cmd string `json:"cmd"`
	HostParams
	PID    int    `json:"pid,omitempty"`  // recycle: as the host's namespace has it; attach: the host
	Mark   string `json:"mark,omitempty"` // attach: what is in the command lines of the run
	Signal string `json:"signal,omitempty"`
	// Handles are those of the host's stdin and stdout in the keeper, on Windows.
	Handles []uintptr         `json:"handles,omitempty"`
	Of      []record.Identity `json:"of,omitempty"` // census: processes of the run that the bench knows of
}

// reply is one line from the keeper: an answer (ID set) or news (ID 0).
type reply struct {
	ID        int64             `json:"id,omitempty"`
	Error     string            `json:"error,omitempty"`
	NoPlace   bool              `json:"no_place,omitempty"`   // the error is an ErrPlace
	NoConsole bool              `json:"no_console,omitempty"` // likewise a console.ErrNone
	Hello     *Hello            `json:"hello,omitempty"`
	Started   *record.Process   `json:"started,omitempty"`
	Bystander *record.Process   `json:"bystander,omitempty"`
	Exited    *Exited           `json:"exited,omitempty"`
	Census    *record.Census    `json:"census,omitempty"`
	Evidence  []record.Evidence `json:"evidence,omitempty"`
	SweptUp   []record.Process  `json:"swept,omitempty"`
	Bug       *bug.Panic        `json:"bug,omitempty"` // of the keeper's: it says nothing after that
}

// Hello is what the keeper says once it is ready: of the witnesses it is all but the ledger.
type Hello struct {
	record.Identity
	record.Witness
}

// Exited is a process that the keeper reaped: the host, or one that came home.
type Exited struct {
	record.Process
	Exit record.Exit `json:"exit"`
	Host bool        `json:"host,omitempty"`
	// Bystander says that it was one in a host's group, Twin that it was one
	// that StartTwin has started, and that the keeper had not ended it.
	Bystander bool `json:"bystander,omitempty"`
	Twin      bool `json:"twin,omitempty"`
	// Recycled says that it was the one that Recycle has started.
	Recycled bool `json:"recycled,omitempty"`
	// Asked says that a signal of the bench had reached it before it ended, or that the keeper's sweep killed it.
	Asked bool `json:"asked,omitempty"`
}

// placeMark is the variable in the host's environment that says where it is.
const placeMark = "LEAKBENCH_PLACE"

// ErrPlace says that the host could not be put where it was to be: this system or this user can't have such a place.
var ErrPlace = errors.New("there is no such place for the host here")

func noPlace(why error) error { return fmt.Errorf("%w: %w", ErrPlace, why) }

// The processes beside the host are the program itself, with these first arguments.
const (
	placementCommand = "placement"
	bystanderCommand = "bystander"
)

// word is one line between the keeper and a placement, either way.
type word struct {
	Error    string  `json:"error,omitempty"`
	Started  bool    `json:"started,omitempty"`  // the host
	Go       bool    `json:"go,omitempty"`       // to the placement: the host is known, and may be reaped
	Recycle  int     `json:"recycle,omitempty"`  // to the placement: have a process of this pid
	Recycled *uint32 `json:"recycled,omitempty"` // the wait status of the process which that asked for
	Exited   *uint32 `json:"exited,omitempty"`   // that of the host

	Bug *bug.Panic `json:"bug,omitempty"` // of the placement's
}

// tell writes a message as one line.
func tell(w io.Writer, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
