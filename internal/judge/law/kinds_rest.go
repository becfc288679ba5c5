package law

import "github.com/leakbench/leakbench/internal/record"

const fullLadder = "Close stdin, wait for a limited time, send SIGTERM to the group, wait, " +
	"send SIGKILL to the group, and wait for the exit."

var kindsEvidence = []Kind{
	{
		ID: "not-escalated", Law: "L1", Also: []string{"L2"}, Class: "F", Title: "a server was told to exit, did not, and was not killed",
		Headline:  "{host} did not kill {n server} that had been told to exit",
		Signature: "alive at the end of the watch; before that it read stdin EOF or caught a signal (after the host's end: it caught a signal)",
		Why: "The host stopped halfway. It closed the pipe or sent SIGTERM, and assumed that the server was gone. The server " +
			"ignores it or takes its time: sending a signal does not end a process.",
		Fix:     fullLadder + " The last step must be SIGKILL. Do not skip a step because the one before raised no error.",
		Reports: []string{"R009", "R030", "R048", "R056", "R067", "R085", "R099", "R115"},
		Findings: []Wording{
			{
				Cause: record.CauseWatched, Title: "{n server} of {label} {is|are} still running, with {its|their} stdin at its end",
				Expected: "a server whose stdin is closed is gone within {settle}", Found: "{n server} still running",
			},
			{
				Law: "L1", Title: "{n server} of {label} that had been told to exit {is|are} still running ({cause})",
				Found: "{alive} alive, {seen} of them told to exit and not killed",
			},
			{Law: "L2", Title: "{n server} of {label} had been told to exit and outlived the host"},
		},
	},
	{
		ID: "pipe-blocked", Law: "L1", Also: []string{"L2"}, Class: "J", Title: "a server is blocked in a write that nobody reads",
		Headline:  "{host} left {n server} blocked in a write that nobody reads",
		Signature: "alive at the end of the watch; asleep in write(1) or write(2), or in the kernel at pipe_write",
		Why: "A pipe holds 64 KiB. The host stopped reading stdout, or never read stderr, and still holds the read end. The server " +
			"is stuck in the middle of a line and does nothing else: it does not even read stdin EOF.",
		Fix: "Drain stdout and stderr for as long as the process lives, even while no session uses it, or send stderr to a file or " +
			"/dev/null. When the connection ends, close the read ends too: the write then fails with EPIPE instead of blocking. " +
			"Never hold a lock during a write to a pipe. " +
			fullLadder,
		Reports: []string{"R083", "R092", "R095"},
		Findings: []Wording{
			{
				Law: "L1", Title: "{n server} of {label}, blocked in a write that nobody reads, {is|are} still running ({cause})",
				Found: "{alive} alive, {seen} of them blocked in a write",
			},
			{Law: "L2", Title: "{n server} of {label} outlived the host, blocked in a write that nobody reads"},
		},
	},
	{
		ID: "eof-withheld", Law: "L1", Also: []string{"L2"}, Class: "K",
		Title:    "a server can't see stdin EOF, because a copy of the write end is still open elsewhere",
		Headline: "{host} left a copy of the stdin of {n server} open elsewhere",
		Signature: "alive at the end of the watch; it has not read stdin EOF; the host holds no write end of it, but another process (a " +
			"sibling, a helper) or the server itself does",
		Why: "The write end was inherited. Another thread launched a process after the pipe was made and before it was marked " +
			"close-on-exec. Or the end was not close-on-exec at all, and the server inherited it together with the end it reads. " +
			"EOF arrives only when the last copy is closed.",
		Fix: "Make pipes with O_CLOEXEC in one step (pipe2) and pass on only what a child needs. Where the platform can't do that, " +
			"launch from one thread or under a lock. On Windows, list the handles that each launch inherits. Do not rely on stdin " +
			"EOF alone. " +
			fullLadder,
		Reports: []string{"R118", "R119"},
		Findings: []Wording{
			{
				Cause: record.CauseWatched, Title: "{n server} of {label}, whose stdin an inherited copy holds open, {is|are} still running",
				Expected: "a server whose stdin the host has closed sees EOF", Found: "{n server} with a stdin that a copy holds open",
			},
			{
				Law: "L1", Title: "{n server} of {label}, whose stdin an inherited copy holds open, {is|are} still running ({cause})",
				Found: "{alive} alive, {seen} of them with a stdin that is held open by a copy",
			},
			{Law: "L2", Title: "{n server} of {label} outlived the host, with a stdin that an inherited copy holds open"},
		},
	},
	{
		ID: "stopped", Law: "L1", Also: []string{"L2"}, Class: "T", Title: "a server is stopped and can't react",
		Headline:  "{host} left {n stopped server} behind",
		Signature: "alive at the end of the watch, in state T (stopped by a signal, or by job control) or t (traced)",
		Why: "A stopped process handles nothing: stdin EOF stays unread and SIGTERM stays pending. SIGSTOP stopped it, or it " +
			"touched the terminal from the background (SIGTTIN, SIGTTOU). Servers share the host's terminal unless they get a " +
			"session or a process group of their own.",
		Fix: "Keep servers away from the terminal: give them pipes for stdin, stdout and stderr, and a session of their own " +
			"(setsid) if they may open /dev/tty. Send SIGCONT after SIGTERM, so that a stopped server can handle it. SIGKILL ends " +
			"it in any state.",
		Reports: []string{"R041"},
		Findings: []Wording{
			{
				Law: "L1", Title: "{n server} of {label} that {is|are} stopped {is|are} still there ({cause})",
				Found: "{alive} alive, {seen} of them stopped",
			},
			{Law: "L2", Title: "{n server} of {label} outlived the host, and {is|are} stopped"},
		},
	},
	{
		ID: "watchdog-blind", Law: "L2", Class: "N", Title: "a server outlived the host, though it watches its parent",
		Headline:  "{host} left {n server} running whose watchdog did not notice",
		Signature: "alive after the host's end; it had announced a watchdog for its parent, which did not end it",
		Why: "The watchdog checks the wrong thing. ppid == 1 is never true below a subreaper (systemd --user, a container's init, a " +
			"terminal). An existing parent PID proves nothing if the PID was reused or is a zombie. And below a host that runs as " +
			"PID 1, the parent is 1 from the start.",
		Fix: "The host can't rely on it: end each server in order before exiting, and tie it to the host in case the host is killed " +
			"(PR_SET_PDEATHSIG, a Job Object, a cgroup). In the server: remember getppid() at the start and exit when it changes. " +
			"Do not compare creation times.",
		Reports:  []string{"R123", "R125"},
		Findings: []Wording{{Title: "{n server} of {label} outlived the host despite a watchdog"}},
	},
	{
		ID: "resource-held", Law: "L10", Class: "Q", Title: "a server can't start, because one that should be gone holds what it needs",
		Headline:  "{host} kept {n server} that {holds|hold} what the next one needs",
		Signature: "a launch found its lock or port taken, by an older launch for the same session, or for one that had ended",
		Why: "The old server is still there. It was dropped and not ended, the next launch did not wait for its exit, or only its " +
			"launcher was ended. Each retry meets the same lock.",
		Fix: "End the old server before you launch the next one, and wait for its exit: until then it holds its lock, its port and " +
			"its database. After a failed connect, end what was launched at once and not in a later sweep. Signal the group, so " +
			"that whoever holds the resource goes with its launcher.",
		Reports: []string{"R005", "R006", "R016", "R018", "R029", "R077", "R086", "R120", "R121"},
		Findings: []Wording{
			{
				Title:    "{n launch} of {label} could not start: an older one held what {it needs|they need}",
				Expected: "what a server needs is free again when the next one is launched",
			},
		},
	},
}

var kindsRest = []Kind{
	{
		ID: "zombie", Law: "L4", Class: "H", Title: "a dead server was never waited for",
		Headline:  "{host} left {n zombie}",
		Signature: "a zombie that the keeper is not responsible for, still there when the watch ended",
		Why: "The parent did not wait for it. It noticed the exit on the pipe and dropped the process object, or it sent SIGKILL " +
			"and did not wait for the exit.",
		Fix: "Wait for every process that you launch, exactly once, whatever ended it. Do it in a task of its own per process, not " +
			"only on the path that closes it. Wait after SIGKILL too. Do not use waitpid(-1) beside a library that waits for its " +
			"own children. As PID 1 of a container, run under an init that reaps (tini, docker --init).",
		Reports: []string{"R014", "R019", "R036", "R044", "R077", "R098", "R119"},
		Findings: []Wording{
			{
				Cause: record.CauseWatched, Title: "{n zombie} of the host {was|were} not waited for",
				Expected: "no zombie older than {settle}", Found: "{n zombie}",
			},
			{Title: "{n dead process} of {name} {was|were} never waited for"},
		},
	},
	{
		ID: "late-reaped", Law: "L4", Class: "H", Title: "a dead server was reaped late",
		Headline:  "{host} reaped {n dead server} too late",
		Signature: "a zombie when the settle time was over, gone when the watch ended",
		Why: "The wait happens together with something else: the next launch, a periodic sweep, the garbage collector, or the end " +
			"of a reader whose pipe a helper keeps open.",
		Fix: "Wait for each process in a task of its own, from its launch on. Do not make the wait depend on the end of stdout or " +
			"stderr: a process that inherited them can keep them open. A wait delay or a pidfd does not have this problem.",
		Reports:  []string{"R014", "R044"},
		Findings: []Wording{{Title: "{n dead process} of {name} {was|were} reaped late"}},
	},
	{
		ID: "respawn", Law: "L7", Class: "P", Title: "servers are launched again and again",
		Headline:  "{host} launches servers again and again",
		Signature: "more launches for a session, or of a server within a minute, than the scenario allows",
		Why: "The host retries without a pause, or something resets the retry count. It can be a handshake that succeeds just before" +
			" the connection drops, an error that is not counted, a health check that fails by itself, or a second owner that " +
			"retries.",
		Fix: "Retry with growing, jittered pauses up to a cap, and stop after some attempts. Count a connection that drops right " +
			"after its handshake as a failure, and reset the count only after it has held for a while. Keep the count where all " +
			"callers share it, and let only one of them retry.",
		Reports: []string{"R004", "R007", "R042", "R049", "R055", "R057", "R097"},
		Findings: []Wording{
			{
				Cause: record.CausePerMinute, Title: "{label} was launched too often within a minute",
				Expected: "at most {limit} of {label} within a minute",
			},
			{Title: "{n session} launched {label} too often", Expected: "at most {limit} for a session"},
		},
	},
}

const boundedLadder = "Limit every wait of the shutdown, and go on to the next step whatever the last one returned. " +
	"The steps: close stdin, wait a few seconds at most, SIGTERM to the group, wait a few seconds, SIGKILL, wait. "

var kindsShutdown = []Kind{
	{
		ID: "slow-close", Law: "L8", Class: "L", Title: "closing a session took too long",
		Headline:  "{host} takes too long to close a session",
		Signature: "a close that succeeded, but later than the limit",
		Why: "A grace period is used up in full each time, typically because a step is missing: stdin is never closed, so the " +
			"server can't know, and the wait before the kill always runs out.",
		Fix:      boundedLadder + "Wait for the exit of the process, not for a fixed time, so that a server which exits at once costs nothing.",
		Reports:  []string{"R050", "R100", "R105"},
		Findings: []Wording{{Title: "{n close}{of} took too long"}},
	},
	{
		ID: "hung-close", Law: "L8", Class: "L", Title: "closing a session did not return",
		Headline:  "{host} hangs while it closes a session",
		Signature: "a close that failed, or never ended, after the limit had passed",
		Why: "The close waits for something that the server controls: its exit, stdout EOF, the answer to a call, or a lock that a " +
			"blocked write holds.",
		Fix: boundedLadder +
			"Do not wait for stdout EOF (a helper may hold it open), for calls in flight, or for a lock that a write to a full " +
			"pipe holds. Fail the calls first, close the descriptors, then wait for the process.",
		Reports:  []string{"R078", "R089", "R091", "R094", "R095", "R099"},
		Findings: []Wording{{Title: "{n close}{of} did not return"}},
	},
	{
		ID: "hung-call", Law: "L8", Class: "L", Title: "a call did not end at its timeout",
		Headline:  "{host} does not end a call at its timeout",
		Signature: "a call with a timeout came back later than the timeout and a whole close, or not at all",
		Why: "The timeout covers only the wait for the answer. It does not cover the write of the request into a full pipe, the " +
			"lock that this write holds, or the exit of a server meanwhile.",
		Fix: boundedLadder +
			"Let the timeout end the write as well: close the descriptor or set a deadline on it, and treat a session whose server " +
			"does not read as broken. Fail the calls in flight when the server closes stdout.",
		Reports:  []string{"R090", "R094", "R095"},
		Findings: []Wording{{Title: "{n call}{of} did not end at the timeout"}},
	},
	{
		ID: "hung-command", Law: "L8", Class: "L", Title: "a command did not exit",
		Headline:  "{host} does not exit when its job is done",
		Signature: "a command that is run for a job was still there when its time was up (`job` of the host file)",
		Why: "The command has done its work and waits: for a server that ignores stdin EOF, for a pipe that a helper holds open, or " +
			"for a worker of its own. Whoever runs it (a scheduler, a CI step, a shell) waits too.",
		Fix: boundedLadder +
			"End the servers before the command ends. Exit when that is done or its time is up, whatever is still in flight. Do " +
			"not wait for EOF of a pipe that another process may hold open.",
		Reports:  []string{"R078", "R091", "R094"},
		Findings: []Wording{{Title: "{n command} did not exit", Expected: "each command exits by itself within {limit}"}},
	},
	{
		ID: "slow-stop", Law: "L8", Class: "L", Title: "the host took too long to stop",
		Headline:  "{host} takes too long to stop",
		Signature: "a stop, or SIGTERM, after which the host exited by itself, but later than the limit",
		Why: "The host ends its servers one after the other, so their grace periods add up, or the stop waits for work that nobody " +
			"needs any more.",
		Fix:      boundedLadder + "End all servers in parallel, with one deadline for all of them that is shorter than the service manager's.",
		Reports:  []string{"R050", "R061", "R100"},
		Findings: []Wording{{Title: "the host took too long to stop"}},
	},
	{
		ID: "hung-stop", Law: "L8", Class: "L", Title: "the host did not stop when it was asked to",
		Headline:  "{host} does not stop when it is asked to",
		Signature: "a stop, or SIGTERM, after which leakbench had to kill the host",
		Why: "One server that does not exit, or one call that does not return, blocks the exit of the host. A service manager then " +
			"kills the host, and nothing is left that knows which servers to end.",
		Fix: boundedLadder +
			"Set one deadline for the whole shutdown, end the servers within it first, and exit when it has passed, whatever is " +
			"still in flight.",
		Reports:  []string{"R061", "R066", "R086", "R090", "R099"},
		Findings: []Wording{{Title: "the host did not stop when it was asked to"}},
	},
	{
		ID: "host-crashed", Law: "L10", Class: "G", Title: "the host crashed",
		Headline:  "{host} crashed",
		Signature: "the host ended with a status other than 0, or by a signal, and nobody had asked it to",
		Why: "An error of one server ends the whole host. It can be an exception in a callback that nobody catches, a write to a " +
			"pipe whose reader is gone (SIGPIPE, EPIPE), or a handshake that fails after the connection was considered open.",
		Fix: "Contain what goes wrong with a server in its session. Handle the error events of the process and of each of its " +
			"pipes, ignore SIGPIPE, and end the session instead of the program. If a service manager is meant to restart the host, " +
			"its host file can declare the scenario not applicable.",
		Reports:  []string{"R004", "R016", "R039"},
		Findings: []Wording{{Title: "the host crashed ({cause})", Expected: "the host lives until it is asked to end"}},
	},
	{
		ID: "no-recovery", Law: "L10", Class: "G", Title: "no session can be opened after the faults have ended",
		Headline: "{host} cannot open a session after the faults",
		Signature: "an open, a job, or the first calls on a session opened after the last fault of the run failed, though they were " +
			"expected to work",
		Why: "Something that the faults left behind blocks it. It can be an entry for the dead connection that is never replaced, a " +
			"retry count that never recovers, or a lock, a port or a descriptor that a stranded process holds.",
		Fix: "Drop the entry of a connection that has ended, so that the next use makes a new one. Let the retry count recover. " +
			"Clear circuit breakers and cooldowns on every path that starts afresh. Check health by opening a session and calling " +
			"a tool, not by looking at the table.",
		Reports: []string{"R004", "R016", "R039", "R071", "R126"},
		Findings: []Wording{
			{Cause: record.Cause(record.OpCall), Title: "{n call} to {label} failed after the faults had ended"},
			{Title: "{n session} of {label} could not be opened after the faults had ended"},
		},
	},
}
