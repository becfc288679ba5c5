package keeper

import (
	"errors"
	"fmt"
)

// placeMark is the variable in the host's environment that says where it is.
const placeMark = "LEAKBENCH_PLACE"

// ErrPlace says that the host could not be put where it was to be: this system
// or this user can't have such a place.
var ErrPlace = errors.New("there is no such place for the host here")

func noPlace(why error) error { return fmt.Errorf("%w: %w", ErrPlace, why) }

// The processes of a place are the program itself, with these first arguments.
const (
	lodgeCommand    = "lodge"
	innocentCommand = "innocent"
)

// word is one line between the keeper and a lodge, either way.
type word struct {
	Error    string  `json:"error,omitempty"`
	Started  bool    `json:"started,omitempty"`  // the host
	Go       bool    `json:"go,omitempty"`       // to the lodge: the host is known, and may be reaped
	Recycle  int     `json:"recycle,omitempty"`  // to the lodge: have a process of this pid
	Recycled bool    `json:"recycled,omitempty"` // it is there
	Exited   *uint32 `json:"exited,omitempty"`   // the wait status of the host
	Innocent *uint32 `json:"innocent,omitempty"` // that of the process which Recycle asked for
}
