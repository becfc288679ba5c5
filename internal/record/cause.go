package record

import (
	"fmt"
	"strings"
	"unicode"
)

// Cause is why a law was broken, without pids, times and counts. It is hashed into a finding's fingerprint, and lists
// of known findings hold fingerprints: the words below are codes that never change. What a person reads of a cause is
// in the judge's catalogue, and may change.
type Cause string

// How a session had ended that left its server behind.
const (
	CauseSessionUnknown   Cause = "session unknown" // the bench does not know the host's sessions
	CauseSessionOpen      Cause = "session not ended"
	CauseSessionClosed    Cause = "session closed"
	CauseSessionForgotten Cause = "session forgotten"
	CauseCloseFailed      Cause = "close failed"
	CauseOpenFailed       Cause = "open failed"
	CauseCallCancelled    Cause = "call cancelled"
	CauseCallTimedOut     Cause = "call timed out"
	CauseJobDone          Cause = "job done"
)

// How a server came to be one too many.
const (
	CauseReconnect  Cause = "reconnect"
	CauseReload     Cause = "reload"
	CauseSideBySide Cause = "launched side by side"
	CauseNoFault    Cause = "no fault" // it never finished its handshake, and has no fault that says why
)

// How the host had ended that left a process behind.
const (
	CauseHostKilled Cause = "host killed"
	CauseHostAsked  Cause = "host asked to end"
	CauseHostEnded  Cause = "host ended by itself"
)

// When a process was ended that should have been left alone.
const (
	CauseHostAtWork    Cause = "while the host was at work"
	CauseHostEnding    Cause = "while the host was ending"
	CauseAfterHost     Cause = "after the host had ended"
	CauseSessionInUse  Cause = "while its session was open"
	CauseSessionAtWork Cause = "while its session was at work"
	CauseAtCheckpoint  Cause = "at a checkpoint"
)

// What grew, or was too much.
const (
	CausePerCycle   Cause = "per cycle"
	CauseHost       Cause = "host"
	CauseServer     Cause = "server"
	CausePerSession Cause = "per session"
	CausePerMinute  Cause = "per minute"
	CausePerRequest Cause = "per request"
)

// CauseWatched is of whatever a host shows that was running already: what it was doing then nobody knows.
const CauseWatched Cause = "watched from outside"

// How a server was ended out of order.
const (
	CauseNoWord   Cause = "no word"
	CauseTooEarly Cause = "too early"
)

// Who held what a launch needed.
const (
	CauseHeldByEnded    Cause = "whose session had ended"
	CauseHeldByPrevious Cause = "the one before it for the same session"
)

// How a server under test was when something was done to it.
const (
	CauseIdle             Cause = "idle"
	CauseBeforeInitialize Cause = "before initialize"
	CauseLauncherGone     Cause = "launcher gone"
)

// CauseOfFault is a fault that explains a breach.
func CauseOfFault(f *Fault) Cause {
	if f.On == OnOrder || f.On == "" {
		return causePart(string(f.Do))
	}
	return causePart(string(f.Do) + " on " + string(f.On))
}

// CauseAfterFault is what follows from a fault.
func CauseAfterFault(f *Fault) Cause { return "after " + CauseOfFault(f) }

// CauseOfStep is a step, by its operation.
func CauseOfStep(s *Step) Cause { return Cause(s.Op) }

// CauseOfRequest is a request that a server has not answered, or refused.
func CauseOfRequest(m Method) Cause { return Cause(m) }

// CauseOfSignal is a signal, by its name.
func CauseOfSignal(name string) Cause { return Cause(name) }

// CauseOfExit is a program's end, by its status.
func CauseOfExit(code int) Cause { return Cause(fmt.Sprintf("exit status %d", code)) }

// CauseChildOf is a process that has not waited for its child.
func CauseChildOf(role string) Cause { return "child of " + causePart(role) }

// Of is the cause, of a process that is known by its name alone.
func (c Cause) Of(comm string) Cause { return c + ", " + causePart(comm) }

// As is the cause of a breach of another kind as well.
func (c Cause) As(kind string) Cause { return Cause(kind) + ", " + c }

// causePart makes a name that another process chose a part of a cause. How it is cut short is frozen, too.
func causePart(name string) Cause {
	const most = 64
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most]) + "…"
	}
	return Cause(name)
}
