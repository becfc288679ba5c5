package law

import "github.com/leakbench/leakbench/internal/record"

var kindsRest = []Kind{
	{
		ID: "zombie", Law: "L4", Class: "H", Title: "a dead server was never waited for",
		Signature: "a zombie that is not the keeper's to reap, still there when the watch ended",
		Why:       "The parent did not call wait for it: the exit was noticed on the pipe and the process object dropped, or SIGKILL was sent and its effect not awaited.",
		Fix: "Wait for every process that you launch, exactly once and whatever made it end: in a task of its own per process, not only on the path that closes it. After SIGKILL, wait too. " +
			"Do not use waitpid(-1) beside a library that waits for its own children. As PID 1 of a container, run under an init that reaps (tini, docker --init).",
		Reports:  []string{"R014", "R019", "R036", "R044", "R077", "R098", "R119"},
		Findings: []Wording{{Title: "{n dead process} of {name} {was|were} never waited for"}},
	},
	{
		ID: "late-reaped", Law: "L4", Class: "H", Title: "a dead server was waited for late",
		Signature: "a zombie when the settle time was over, gone when the watch ended",
		Why:       "The wait comes with something else: the next launch, a periodic sweep, the garbage collector, or the end of a reader that a helper keeps open.",
		Fix:       "Wait in a task of its own for each process, from its launch on. Do not make the wait depend on the end of stdout or stderr: whoever inherited them can keep those open (a wait delay, or pidfd, does not).",
		Reports:   []string{"R014", "R044"},
		Findings:  []Wording{{Title: "{n dead process} of {name} {was|were} reaped late"}},
	},
	{
		ID: "respawn", Law: "L7", Class: "P", Title: "servers are launched again and again",
		Signature: "more launches for a session, or of a server within a minute, than the scenario allows",
		Why:       "A retry without a pause, or a retry count that something resets: a handshake that succeeds just before the drop, an error that is not counted, a health check that fails by itself, a second owner that retries as well.",
		Fix: "Retry with growing, jittered pauses up to a cap, and give up (park) after some. Count a connection that drops right after its handshake as a failure: reset the count only after it has held for a while. " +
			"Keep the count where all callers share it, and let one of them retry.",
		Reports: []string{"R004", "R007", "R042", "R049", "R055", "R057", "R097"},
		Findings: []Wording{
			{Cause: record.CausePerMinute, Title: "{label} was launched too often within a minute", Expected: "at most {limit} of {label} within a minute"},
			{Title: "{n session} launched {label} too often", Expected: "at most {limit} for a session"},
		},
	},
}

const boundedLadder = "Bound every wait of the ladder, and go on to the next rung whatever the last one said: close stdin, at most a few seconds, SIGTERM to the group, a few seconds, SIGKILL, wait. "

var kindsShutdown = []Kind{
	{
		ID: "slow-close", Law: "L8", Class: "L", Title: "closing a session took too long",
		Signature: "a close that succeeded, later than the limit",
		Why:       "A grace period that is spent in full each time, typically because a rung of the ladder is missing: stdin is never closed, so the server can't know, and the wait before the kill always runs out.",
		Fix:       boundedLadder + "Wait for the exit of the process, not for a fixed time, so that a server which ends at once costs nothing.",
		Reports:   []string{"R050", "R100", "R105"},
		Findings:  []Wording{{Title: "{n close}{of} took too long"}},
	},
	{
		ID: "hung-close", Law: "L8", Class: "L", Title: "closing a session did not come back",
		Signature: "a close that failed, or never ended, after the limit had passed",
		Why:       "The close waits for something that the server decides: its exit, the end of its stdout, the answer to a call, a lock that a blocked write holds.",
		Fix:       boundedLadder + "Do not wait for the end of stdout (a helper may hold it), nor for calls in flight, nor for a lock that a write to a full pipe holds: fail the calls first, close the descriptors, then wait for the process.",
		Reports:   []string{"R078", "R089", "R091", "R094", "R095", "R099"},
		Findings:  []Wording{{Title: "{n close}{of} did not come back"}},
	},
	{
		ID: "hung-call", Law: "L8", Class: "L", Title: "a call did not end with its time limit",
		Signature: "a call that the host was given a time limit for came back later than the limit and a whole close, or not at all",
		Why:       "The limit covers the wait for the answer and nothing else: not the write of the request into a pipe that is full, not the lock that this write holds, not the end of a server that died meanwhile.",
		Fix:       boundedLadder + "Let the time limit end the write as well: close the descriptor or set a deadline on it, and treat a session whose server does not read as broken. Fail the calls in flight when the server's stdout ends.",
		Reports:   []string{"R090", "R094", "R095"},
		Findings:  []Wording{{Title: "{n call}{of} did not end with the time limit"}},
	},
	{
		ID: "slow-stop", Law: "L8", Class: "L", Title: "the host took too long to end",
		Signature: "a stop, or SIGTERM, after which the host ended by itself, later than the limit",
		Why:       "Servers are ended one after the other, so that their grace periods add up, or the stop waits for work that nobody wants any more.",
		Fix:       boundedLadder + "End all servers side by side, with one deadline over all of them that is shorter than the service manager's.",
		Reports:   []string{"R050", "R061", "R100"},
		Findings:  []Wording{{Title: "the host took too long to end"}},
	},
	{
		ID: "hung-stop", Law: "L8", Class: "L", Title: "the host did not end when it was asked to",
		Signature: "a stop, or SIGTERM, after which the bench had to kill the host",
		Why:       "One server that does not end, or one call that does not return, holds up the end of the host. A service manager kills it then, and nobody is left who knows which servers to end.",
		Fix:       boundedLadder + "Put one deadline over the whole shutdown, end the servers in it first, and exit when it has passed, whatever is still in flight.",
		Reports:   []string{"R061", "R066", "R086", "R090", "R099"},
		Findings:  []Wording{{Title: "the host did not end when it was asked to"}},
	},
	{
		ID: "no-recovery", Law: "L10", Class: "G", Title: "no session can be opened after the faults have ended",
		Signature: "an open, a job, or the first calls on a session opened after the last fault of the run failed, though they were expected to work",
		Why:       "What the faults left behind stands in the way: an entry for the dead connection that is never replaced, a retry count that is used up for good, a lock, a port or a descriptor that a stranded process holds.",
		Fix: "Drop the entry of a connection that has ended, so that the next use makes a new one; let the retry count recover; clear breakers and cooldowns on every path that starts afresh. " +
			"Check health by opening a session and calling a tool, not by looking at the table.",
		Reports: []string{"R004", "R016", "R039", "R071", "R126"},
		Findings: []Wording{
			{Cause: record.Cause(record.OpCall), Title: "{n call} to {label} failed after the faults had ended"},
			{Title: "{n session} of {label} could not be opened after the faults had ended"},
		},
	},
}
