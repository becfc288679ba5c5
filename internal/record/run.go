// Package record is the run file: its header, its events, and their writer and
// reader. A file says what happened and judges nothing.
package record

// Run is a run file that was read.
type Run struct {
	Header Header
	Events []Event
	// Truncated says why the file is not complete: a torn last line, no end
	// event, a gap in the sequence. "" for a complete file.
	Truncated string
}
