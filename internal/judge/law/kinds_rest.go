package law

import "github.com/leakbench/leakbench/internal/record"

const fullLadder = "Close stdin, wait a bounded time, SIGTERM to the group, wait, SIGKILL to the group, and wait for the exit."

var kindsEvidence = []Kind{
	{
		ID: "not-escalated", Law: "L1", Also: []string{"L2"}, Class: "F", Title: "a server was told to end, did not, and was not killed",
		Headline:  "{host} did not kill {n server} that ignored SIGTERM",
		Signature: "alive at the end of the watch; it read the end of stdin or caught a signal before that (after the host's end: it caught a signal)",
		Why: "The host has gone half of the way down the ladder: the pipe was closed or SIGTERM sent, and the server, which ignores it or takes its time, was taken for gone. " +
			"Sending a signal is not ending a process.",
		Fix:     fullLadder + " No rung may be the last one but SIGKILL, and none may be skipped because the one before raised no error.",
		Reports: []string{"R009", "R030", "R048", "R056", "R067", "R085", "R099", "R115"},
		Findings: []Wording{
			{Law: "L1", Title: "{n server} of {label} that had been told to end {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them told to end and not killed"},
			{Law: "L2", Title: "{n server} of {label} had been told to end and outlived the host"},
		},
	},
	{
		ID: "pipe-blocked", Law: "L1", Also: []string{"L2"}, Class: "J", Title: "a server is blocked in a write that nobody reads",
		Headline:  "{host} left {n server} blocked in a write that nobody reads",
		Signature: "alive at the end of the watch; asleep in write(1) or write(2), or in the kernel at pipe_write",
		Why: "A pipe holds 64 KiB. The host has stopped reading stdout, or has never read stderr, and still holds the read end: the server stands in the middle of a line and gets to nothing else, " +
			"not even to the end of its stdin.",
		Fix: "Drain stdout and stderr for as long as the process lives, also while no session uses it, or give stderr to a file or /dev/null. When the connection ends, close the read ends too: " +
			"the write then fails with EPIPE instead of waiting. Never hold a lock over a write to a pipe. " + fullLadder,
		Reports: []string{"R083", "R092", "R095"},
		Findings: []Wording{
			{Law: "L1", Title: "{n server} of {label}, blocked in a write that nobody reads, {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them blocked in a write"},
			{Law: "L2", Title: "{n server} of {label} outlived the host, blocked in a write that nobody reads"},
		},
	},
	{
		ID: "eof-withheld", Law: "L1", Also: []string{"L2"}, Class: "K", Title: "a server can't see the end of its stdin, because a copy of the other end is still open elsewhere",
		Headline:  "{host} left a copy of the stdin of {n server} open elsewhere",
		Signature: "alive at the end of the watch; it has not read the end of stdin; the host holds no write end of it, and another process (a sibling, a helper), or the server itself, does",
		Why:       "The write end was inherited. Between making the pipe and marking it close-on-exec another thread launched a process; or the end was not close-on-exec at all, and the server has inherited it together with the end it reads from. The end of stdin comes when the last copy is closed.",
		Fix: "Make pipes with O_CLOEXEC in one step (pipe2), pass on only what a child is to have, and launch from one thread or under a lock where the platform can't do it in one step; on Windows give each launch a list of the handles it inherits. " +
			"And do not rely on the end of stdin alone. " + fullLadder,
		Reports: []string{"R118", "R119"},
		Findings: []Wording{
			{Law: "L1", Title: "{n server} of {label}, whose stdin an inherited copy holds open, {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them with a stdin that is held open by a copy"},
			{Law: "L2", Title: "{n server} of {label} outlived the host, with a stdin that an inherited copy holds open"},
		},
	},
	{
		ID: "stopped", Law: "L1", Also: []string{"L2"}, Class: "T", Title: "a server is stopped and can't react",
		Headline:  "{host} left {n stopped server} behind",
		Signature: "alive at the end of the watch, in state T (stopped by a signal, or by job control) or t (traced)",
		Why:       "A stopped process handles nothing: the end of stdin stays unread, SIGTERM stays pending. It was stopped by SIGSTOP, or because it touched the terminal from the background (SIGTTIN, SIGTTOU): servers share the host's terminal unless they get a session or a group of their own.",
		Fix:       "Keep servers away from the terminal: stdin, stdout and stderr as pipes, and a session of their own (setsid) for what may open /dev/tty. Send SIGCONT after SIGTERM, so that a stopped server gets to handle it; SIGKILL ends it in any state.",
		Reports:   []string{"R041"},
		Findings: []Wording{
			{Law: "L1", Title: "{n server} of {label} that {is|are} stopped {is|are} still there ({cause})", Found: "{alive} alive, {seen} of them stopped"},
			{Law: "L2", Title: "{n server} of {label} outlived the host, and {is|are} stopped"},
		},
	},
	{
		ID: "watchdog-blind", Law: "L2", Class: "N", Title: "a server outlived the host though it watches its parent",
		Headline:  "{host} left {n server} running whose watchdog did not notice",
		Signature: "alive after the host's end; it had announced a watchdog over its parent, which did not end it",
		Why: "The watchdog asks the wrong question. ppid == 1 is never true below a subreaper (systemd --user, a container's init, a terminal); that the parent's pid exists says nothing when the pid is used again or is a zombie's; " +
			"and a host that runs as pid 1 is its children's parent 1 from the beginning.",
		Fix: "The host can't count on it: end each server in order before exiting, and tie it to the host for the case of a kill (PR_SET_PDEATHSIG, a Job Object, a cgroup). " +
			"In the server: remember getppid() at the start and end when it changes; leave creation times alone.",
		Reports:  []string{"R123", "R125"},
		Findings: []Wording{{Title: "{n server} of {label} outlived the host in spite of a watchdog"}},
	},
	{
		ID: "resource-held", Law: "L10", Class: "Q", Title: "a server can't start, because one that should be gone holds what it needs",
		Headline:  "{host} kept {n server} that {holds|hold} what the next one needs",
		Signature: "a launch found its lock or port taken, by an older launch for the same session, or for one that had ended",
		Why:       "The predecessor is still there: it was dropped and not ended, its end was not awaited before the next launch, or only its launcher was ended. Each retry meets the same lock.",
		Fix:       "End the predecessor before launching the successor, and wait for its exit: until then its lock, its port and its database are taken. After a failed connect, end what was launched at once and not in a later sweep. Signal the group, so that what holds the resource goes with its launcher.",
		Reports:   []string{"R005", "R006", "R016", "R018", "R029", "R077", "R086", "R120", "R121"},
		Findings: []Wording{
			{Title: "{n launch} of {label} could not start: an older one held what {it needs|they need}", Expected: "what a server needs is free again when the next one is launched"},
		},
	},
}

var kindsRest = []Kind{
	{
		ID: "zombie", Law: "L4", Class: "H", Title: "a dead server was never waited for",
		Headline:  "{host} left {n zombie}",
		Signature: "a zombie that is not the keeper's to reap, still there when the watch ended",
		Why:       "The parent did not call wait for it: the exit was noticed on the pipe and the process object dropped, or SIGKILL was sent and its effect not awaited.",
		Fix: "Wait for every process that you launch, exactly once and whatever made it end: in a task of its own per process, not only on the path that closes it. After SIGKILL, wait too. " +
			"Do not use waitpid(-1) beside a library that waits for its own children. As PID 1 of a container, run under an init that reaps (tini, docker --init).",
		Reports:  []string{"R014", "R019", "R036", "R044", "R077", "R098", "R119"},
		Findings: []Wording{{Title: "{n dead process} of {name} {was|were} never waited for"}},
	},
	{
		ID: "late-reaped", Law: "L4", Class: "H", Title: "a dead server was waited for late",
		Headline:  "{host} reaped {n dead server} too late",
		Signature: "a zombie when the settle time was over, gone when the watch ended",
		Why:       "The wait comes with something else: the next launch, a periodic sweep, the garbage collector, or the end of a reader that a helper keeps open.",
		Fix:       "Wait in a task of its own for each process, from its launch on. Do not make the wait depend on the end of stdout or stderr: whoever inherited them can keep those open (a wait delay, or pidfd, does not).",
		Reports:   []string{"R014", "R044"},
		Findings:  []Wording{{Title: "{n dead process} of {name} {was|were} reaped late"}},
	},
	{
		ID: "respawn", Law: "L7", Class: "P", Title: "servers are launched again and again",
		Headline:  "{host} launches servers again and again",
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
		Headline:  "{host} takes too long to close a session",
		Signature: "a close that succeeded, later than the limit",
		Why:       "A grace period that is spent in full each time, typically because a rung of the ladder is missing: stdin is never closed, so the server can't know, and the wait before the kill always runs out.",
		Fix:       boundedLadder + "Wait for the exit of the process, not for a fixed time, so that a server which ends at once costs nothing.",
		Reports:   []string{"R050", "R100", "R105"},
		Findings:  []Wording{{Title: "{n close}{of} took too long"}},
	},
	{
		ID: "hung-close", Law: "L8", Class: "L", Title: "closing a session did not come back",
		Headline:  "{host} hangs while it closes a session",
		Signature: "a close that failed, or never ended, after the limit had passed",
		Why:       "The close waits for something that the server decides: its exit, the end of its stdout, the answer to a call, a lock that a blocked write holds.",
		Fix:       boundedLadder + "Do not wait for the end of stdout (a helper may hold it), nor for calls in flight, nor for a lock that a write to a full pipe holds: fail the calls first, close the descriptors, then wait for the process.",
		Reports:   []string{"R078", "R089", "R091", "R094", "R095", "R099"},
		Findings:  []Wording{{Title: "{n close}{of} did not come back"}},
	},
	{
		ID: "hung-call", Law: "L8", Class: "L", Title: "a call did not end with its time limit",
		Headline:  "{host} does not end a call with its time limit",
		Signature: "a call that the host was given a time limit for came back later than the limit and a whole close, or not at all",
		Why:       "The limit covers the wait for the answer and nothing else: not the write of the request into a pipe that is full, not the lock that this write holds, not the end of a server that died meanwhile.",
		Fix:       boundedLadder + "Let the time limit end the write as well: close the descriptor or set a deadline on it, and treat a session whose server does not read as broken. Fail the calls in flight when the server's stdout ends.",
		Reports:   []string{"R090", "R094", "R095"},
		Findings:  []Wording{{Title: "{n call}{of} did not end with the time limit"}},
	},
	{
		ID: "hung-command", Law: "L8", Class: "L", Title: "a command did not exit",
		Headline:  "{host} does not exit when its job is done",
		Signature: "a command that is run for a job was still there when its time was over (`job` of the host file)",
		Why: "The command has done its work and waits: for a server that does not heed the end of its stdin, for a pipe that a helper holds open, or for a worker of its own. " +
			"Whoever runs it (a scheduler, a CI step, a shell) waits with it.",
		Fix: boundedLadder + "End the servers before the command ends, and exit when that is done or its time has passed, whatever is still in flight. " +
			"Do not wait for the end of a pipe that another process may hold.",
		Reports:  []string{"R078", "R091", "R094"},
		Findings: []Wording{{Title: "{n command} did not exit", Expected: "each command exits by itself within {limit}"}},
	},
	{
		ID: "slow-stop", Law: "L8", Class: "L", Title: "the host took too long to end",
		Headline:  "{host} takes too long to stop",
		Signature: "a stop, or SIGTERM, after which the host ended by itself, later than the limit",
		Why:       "Servers are ended one after the other, so that their grace periods add up, or the stop waits for work that nobody wants any more.",
		Fix:       boundedLadder + "End all servers side by side, with one deadline over all of them that is shorter than the service manager's.",
		Reports:   []string{"R050", "R061", "R100"},
		Findings:  []Wording{{Title: "the host took too long to end"}},
	},
	{
		ID: "hung-stop", Law: "L8", Class: "L", Title: "the host did not end when it was asked to",
		Headline:  "{host} does not stop when it is asked to",
		Signature: "a stop, or SIGTERM, after which the bench had to kill the host",
		Why:       "One server that does not end, or one call that does not return, holds up the end of the host. A service manager kills it then, and nobody is left who knows which servers to end.",
		Fix:       boundedLadder + "Put one deadline over the whole shutdown, end the servers in it first, and exit when it has passed, whatever is still in flight.",
		Reports:   []string{"R061", "R066", "R086", "R090", "R099"},
		Findings:  []Wording{{Title: "the host did not end when it was asked to"}},
	},
	{
		ID: "host-crashed", Law: "L10", Class: "G", Title: "the host crashed",
		Headline:  "{host} crashed",
		Signature: "the host ended with a status other than 0, or by a signal, and nobody had asked it to",
		Why: "An error that belongs to one server ends them all: an exception in a callback that nobody catches, a write to a pipe whose reader is gone (SIGPIPE, EPIPE), " +
			"a handshake that fails after the connection was taken for open.",
		Fix: "Keep what goes wrong with a server in that server's session: handle the error events of the process and of each of its pipes, ignore SIGPIPE, and end the session instead of the program. " +
			"Where a service manager is to start the host again, its host file can say that the scenario is not applicable.",
		Reports:  []string{"R004", "R016", "R039"},
		Findings: []Wording{{Title: "the host crashed ({cause})", Expected: "the host lives until it is asked to end"}},
	},
	{
		ID: "no-recovery", Law: "L10", Class: "G", Title: "no session can be opened after the faults have ended",
		Headline:  "{host} cannot open a session after the faults",
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
