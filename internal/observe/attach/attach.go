// Package attach looks at a host that runs already, and at what is below it, once a second. It writes down what it sees and judges
// nothing. It sends no signal, stops nobody with ptrace, and asks the host for nothing: it only reads.
//
// What changes fast is read at each look: which processes there are, their states and memory. What is slow to read comes round in
// turns, as much of it as fits into a small share of a processor: what a process has read and written, what it waits for, its
// descriptors, and who holds the other ends of its pipes.
package attach

import (
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Params say whom to attach to. Zero values are the defaults.
type Params struct {
	Host  record.Identity
	Every time.Duration // between looks; 0 is a second
	// Add takes what goes into the run.
	Add func(record.Event) error
	// OnLook is shown each look, also those that are not worth a place in the run; nil is nobody.
	OnLook func(Look)
}

// Look is what is known at one moment.
type Look struct {
	At     time.Time
	Census record.Census
	Facts  map[record.Identity]Fact
}

// Fact is what is slow to read of a process, and when it was read.
type Fact struct {
	Evidence record.Evidence
	At       time.Time // of the evidence
	Held     time.Time // when it was looked up who holds the other ends; zero: not yet
}

const (
	// forFacts and forIO are how long a look may take for evidence and for what was read and written, beyond one process of each.
	forFacts = 3 * time.Millisecond / 2
	forIO    = time.Millisecond
	forFirst = 100 * time.Millisecond // at the first look
	// holdersShare is by how much longer than such a look the time between two looks for holders is.
	holdersShare = 200
	// holdersEvery and soonest are between two of them at the most and at the least.
	holdersEvery = time.Minute
	soonest      = 2 * time.Second
)

// When a look is worth a place in the run. A run of a day must not fill the disk: what repeats is written the less often the
// longer the run takes.
const (
	factsEvery  = 10 * time.Second
	factsShare  = 100 // of the time that the run has lasted
	rowsShare   = 200
	rowsASecond = 100
)

// factsDue says that the evidence on all processes is written down although nothing has changed.
func factsDue(sinceLast, lasted time.Duration) bool {
	return sinceLast >= max(factsEvery, lasted/factsShare)
}

// rowsDue says that so many rows are written down.
func rowsDue(sinceLast, lasted time.Duration, rows int) bool {
	return sinceLast >= max(time.Duration(rows)*time.Second/rowsASecond, lasted/rowsShare)
}
