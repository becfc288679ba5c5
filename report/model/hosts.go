package model

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// HostEnd says how a life of the host ended, "" where it did not.
func HostEnd(h *history.Host) string {
	if h.Exited == history.Never {
		return ""
	}
	return ExitText(&h.Exit)
}

// ExitText says how a process ended.
func ExitText(e *record.Exit) string {
	switch {
	case e == nil:
		return ""
	case e.Signal != "" && e.Asked:
		return "by " + e.Signal + ", as asked"
	case e.Signal != "":
		return "by " + e.Signal
	case e.Asked:
		return fmt.Sprintf("exit %d, as asked", e.Code)
	}
	return fmt.Sprintf("exit %d, unasked", e.Code)
}
