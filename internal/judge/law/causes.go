package law

import "github.com/leakbench/leakbench/internal/record"

// Cause is what is said of a cause. The code that fingerprints hash is record.Cause: nothing here is hashed.
type Cause struct {
	Text      string // in a title
	Narrative string // what has happened to {server}, of {session}
	Fix       string // what to do about it before what the kind says
	// Alone says that a server which ignores what it is told can't be helped in any other way.
	Alone bool
}

// CauseOf is what is said of a cause; nothing of one that no text shows.
func CauseOf(c record.Cause) Cause { return causes[c] }

var causes = map[record.Cause]Cause{
	record.CauseSessionUnknown: {Text: "session unknown", Narrative: "{server} is one more than the host was asked to keep"},
	record.CauseCallCancelled: {
		Text:      "call cancelled",
		Narrative: "Session {session} was cancelled during a call in {server}, and the host dropped the connection without ending the server",
	},
	record.CauseCallTimedOut: {
		Text:      "call timed out",
		Narrative: "The call of session {session} timed out in {server}, and the host dropped the connection without ending the server",
	},
	record.CauseOpenFailed: {Text: "open failed", Narrative: "Session {session} could not be opened, and the host left {server} behind"},
	record.CauseSessionClosed: {
		Text:      "session closed",
		Narrative: "Session {session} was closed and the host reported success, but {server} is still running",
	},
	record.CauseSessionForgotten: {
		Text:      "session forgotten",
		Narrative: "Session {session} ended without a close, the host let go of the client, and {server} is still running",
	},
	record.CauseJobDone: {Text: "job done", Narrative: "The job of session {session} was done, but {server} is still running"},
	record.CauseCloseFailed: {
		Text:      "close failed",
		Narrative: "Closing session {session} failed after {took} ({error}), and {server} is still running",
	},
	record.CauseSessionOpen: {Text: "session not ended", Narrative: "Session {session} has not ended, and {server} is one more than it needs"},

	record.CauseReconnect: {
		Text:      "reconnect",
		Narrative: "The reconnect replaced {server} by {next}, but dropped the old connection without ending the server",
	},
	record.CauseReload: {
		Text:      "reload",
		Narrative: "The reload replaced {server} by {next}, but dropped the old connection without ending the server",
	},
	record.CauseSideBySide: {
		Text:      "launched side by side",
		Narrative: "{server} and {next} were launched {gap} apart for the same connection, nothing was wrong with either, {and}",
	},
	record.CauseNoFault: {Text: "no fault"},

	record.CauseHostKilled: {
		Fix: "A killed host can't clean up, so arrange the end of its servers beforehand: on Linux PR_SET_PDEATHSIG, set between fork and " +
			"exec by a thread that lives as long as the host; on Windows a Job Object with KILL_ON_JOB_CLOSE; " +
			"elsewhere a small supervisor that holds a pipe of the host and ends the servers when it closes, " +
			"or a cgroup that the service manager empties (KillMode=control-group). " +
			"At the next start, end what a file of earlier launches (PID and start time) still names.",
		Alone: true,
	},
	record.CauseHostAsked: {Fix: "The host ended before its servers did."},

	record.CauseHostAtWork:    {Text: "while the host was at work"},
	record.CauseHostEnding:    {Text: "while the host was ending"},
	record.CauseAfterHost:     {Text: "after the host had ended"},
	record.CauseSessionInUse:  {Text: "while its session was open"},
	record.CauseSessionAtWork: {Text: "while its session was at work"},

	record.CauseWatched: {Text: "watched from outside"},

	record.CauseIdle:             {Text: "while it was idle"},
	record.CauseBeforeInitialize: {Text: "before initialize"},
	record.CauseLauncherGone:     {Text: "after the end of its launcher"},

	record.CauseHeldByEnded:    {Text: "whose session had ended"},
	record.CauseHeldByPrevious: {Text: "the previous one of the same session"},
}
