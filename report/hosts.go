package report

import "github.com/leakbench/leakbench/internal/record"

// hostSpan is a life of the host.
type hostSpan struct {
	pid      int
	from, to int64 // to: never, or when it was reaped
	exit     *record.Exit
}

// hostGoneFor is when the life of the host ended that had launched a server, or
// never.
func (s *story) hostGoneFor(f *fate) int64 {
	if f.Life < 1 || f.Life > len(s.hosts) {
		return s.hostGone
	}
	return s.hosts[f.Life-1].to
}
