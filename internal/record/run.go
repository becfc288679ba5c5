// Package record is the run file: its header, its events, and their writer and
// reader. A file says what happened and judges nothing.
package record

import "github.com/leakbench/leakbench/internal/duration"

// Duration is a time.Duration that reads and writes as text ("1.5s").
type Duration = duration.Duration

// Run is a run file that was read.
type Run struct {
	Header Header
	Events []Event
	// Truncated says why the file is not complete: a torn last line, no end
	// event, a gap in the sequence. "" for a complete file.
	Truncated string
}

// Played returns the header as the run was played: with what the host declared
// in its hello.
func (r *Run) Played() Header {
	h := r.Header
	for _, e := range r.Events {
		if e.Kind != HostReady || e.Hello == nil {
			continue
		}
		if e.Hello.Profile != nil {
			h.Host.Profile = *e.Hello.Profile
		}
		if e.Hello.Limits != nil {
			h.Limits = *e.Hello.Limits
		}
	}
	return h
}
