package model

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/record"
)

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

// hostSpan is a life of the host.
type Host struct {
	PID      int
	From, To int64 // to: never, or when it was reaped
	Exit     *record.Exit
}

// hostGoneFor is when the life of the host ended that had launched a server, or
// never.
func (s *Run) hostGoneFor(f *Server) int64 {
	if f.Life < 1 || f.Life > len(s.Hosts) {
		return s.HostGone
	}
	return s.Hosts[f.Life-1].To
}
