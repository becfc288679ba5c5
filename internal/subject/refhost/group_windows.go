package refhost

import (
	"os/exec"
)

// asks says that there is a signal that asks a process to end.
const asks = false

func ownGroup(*exec.Cmd, bool) {}

func hangUpOwnGroup() {}

// killNumber does nothing: there are no numbers to be mistaken about here.
func killNumber(int) {}
