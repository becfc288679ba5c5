package verdict

func kindsCollateral() []Kind {
	exact := "Signal only what you launched, and only through the handle that its launch returned (a pidfd, a process object, a Job Object), not through a list of pids. Where it has to be a pid: keep its start time, and compare it right before each signal. " +
		"End the one server whose session has ended; leave what belongs to others to its owners."
	return []Kind{
		{
			ID: "killed", Law: "L3", Class: "M", Title: "the server of a live session was killed",
			Signature: "a server that nothing was wrong with died without the end of stdin and without a signal it could catch, while its session was live",
			Why:       "A cleanup took more than was meant: it went by a list of all known pids, by the command line, by a group that is shared, or by a number that belongs to somebody else now.",
			Fix:       exact, Reports: []string{"R003", "R011", "R039", "R055", "R107", "R119", "R122"},
		},
		{
			ID: "terminated", Law: "L3", Class: "M", Title: "the server of a live session was told to end by a signal",
			Signature: "a server that nothing was wrong with caught SIGTERM, SIGINT or SIGHUP while its session was live",
			Why:       "A cleanup took more than was meant: a sweep at the end of one session or job that signals every pid it knows, or a signal to a process group in which others live too.",
			Fix:       exact, Reports: []string{"R002", "R003", "R010", "R012", "R055", "R122"},
		},
		{
			ID: "cut-off", Law: "L3", Class: "M", Title: "the stdin of a live session's server was closed",
			Signature: "a server that nothing was wrong with read the end of stdin while its session was live",
			Why:       "Two sessions share a client, or an owner of connections was replaced, and the end of one took the connection of the other with it.",
			Fix:       "Count the users of a shared connection, and close it with the last one; or give each session a connection of its own. Close by the object of that very connection, never by the server's name: by then the name may stand for its successor.",
			Reports:   []string{"R039", "R107", "R108"},
		},
		{
			ID: "missing", Law: "L3", Class: "M", Title: "a session is open, and its server is gone",
			Signature: "at a checkpoint the newest server of an open session is dead, though no fault had ended it; an older one that lives does not make up for it",
			Why:       "The host ended the wrong one of two (the new instead of the old), or ended a server while its session was being set up, and calls the session open.",
			Fix:       "When a connection is replaced, end the old one by its own handle. Do not look for it by name, by command line, or by what is in the table now: that is the new one. After a teardown, check that what should live does.",
			Reports:   []string{"R003", "R039", "R107"},
		},
		{
			ID: "bystander", Law: "L3", Class: "M", Title: "a process that is none of the host's was ended",
			Signature: "the bench's own process in the host's process group, which no server and no launcher knows, was ended by a signal before the bench swept it",
			Why: "The host signalled its own process group (kill(0, ...), kill(-pgid, ...) with its own or an inherited group), or chose its victims by name. Whatever was started beside it by the same shell, " +
				"service or pipeline goes down with its servers.",
			Fix:     "Start each server in a process group (or session) of its own, and signal that group alone. Before a signal to a group, check that it is not your own: getpgid(child) != getpgrp(). " + exact,
			Reports: []string{"R010"},
		},
		{
			ID: "twin", Law: "L3", Class: "M", Title: "a process that only looks like a server of the host's was ended",
			Signature: "the bench's own process with the very command line of a server, in a session of its own and no child of the host's, was ended by a signal before the bench swept it",
			Why: "The host chose whom to end by the name or the command line (pkill -f, a walk over /proc or the output of ps). The same server, started with the same configuration by another client, a second window, " +
				"a cron job or another user's agent, looks exactly like it.",
			Fix:     "Never choose by the command line whom to signal. " + exact + " For what an earlier run of the host has left: a list on disk of pid and start time, or a mark of that very launch in its environment, not its command.",
			Reports: []string{"R055", "R107", "R122"},
		},
		{
			ID: "recycled", Law: "L3", Class: "M", Title: "a process that had got a dead server's pid was ended",
			Signature: "the bench's own process, to which the system had given the pid of a server that was dead and waited for, and a group of that number, was ended by a signal before the bench swept it",
			Why: "The host keeps the number of a process, or of a group, for longer than the process: in a set of known pids, in a table that a sweep goes through, in a file. The system gives numbers out again, and kill() asks nobody who has it now. " +
				"A gateway that runs for days gets there; so does a container, where numbers are small and few.",
			Fix:     "Drop the number when the process has been waited for. " + exact + " The number of a group is as good as its leader: it is free when leader and members are gone, so signal the group before the leader is waited for.",
			Reports: []string{"R011", "R125"},
		},
	}
}

func kindsRest() []Kind {
	return append([]Kind{
		{
			ID: "zombie", Law: "L4", Class: "H", Title: "a dead server was never waited for",
			Signature: "a zombie that is not the keeper's to reap, still there when the watch ended",
			Why:       "The parent did not call wait for it: the exit was noticed on the pipe and the process object dropped, or SIGKILL was sent and its effect not awaited.",
			Fix: "Wait for every process that you launch, exactly once and whatever made it end: in a task of its own per process, not only on the path that closes it. After SIGKILL, wait too. " +
				"Do not use waitpid(-1) beside a library that waits for its own children. As PID 1 of a container, run under an init that reaps (tini, docker --init).",
			Reports: []string{"R014", "R019", "R036", "R044", "R077", "R098", "R119"},
		},
		{
			ID: "late-reaped", Law: "L4", Class: "H", Title: "a dead server was waited for late",
			Signature: "a zombie when the settle time was over, gone when the watch ended",
			Why:       "The wait comes with something else: the next launch, a periodic sweep, the garbage collector, or the end of a reader that a helper keeps open.",
			Fix:       "Wait in a task of its own for each process, from its launch on. Do not make the wait depend on the end of stdout or stderr: whoever inherited them can keep those open (a wait delay, or pidfd, does not).",
			Reports:   []string{"R014", "R044"},
		},
		{
			ID: "respawn", Law: "L7", Class: "P", Title: "servers are launched again and again",
			Signature: "more launches for a session, or of a server within a minute, than the scenario allows",
			Why:       "A retry without a pause, or a retry count that something resets: a handshake that succeeds just before the drop, an error that is not counted, a health check that fails by itself, a second owner that retries as well.",
			Fix: "Retry with growing, jittered pauses up to a cap, and give up (park) after some. Count a connection that drops right after its handshake as a failure: reset the count only after it has held for a while. " +
				"Keep the count where all callers share it, and let one of them retry.",
			Reports: []string{"R004", "R007", "R042", "R049", "R055", "R057", "R097"},
		},
	}, kindsShutdown()...)
}

func kindsShutdown() []Kind {
	const bound = "Bound every wait of the ladder, and go on to the next rung whatever the last one said: close stdin, at most a few seconds, SIGTERM to the group, a few seconds, SIGKILL, wait. "
	return []Kind{
		{
			ID: "slow-close", Law: "L8", Class: "L", Title: "closing a session took too long",
			Signature: "a close that succeeded, later than the limit",
			Why:       "A grace period that is spent in full each time, typically because a rung of the ladder is missing: stdin is never closed, so the server can't know, and the wait before the kill always runs out.",
			Fix:       bound + "Wait for the exit of the process, not for a fixed time, so that a server which ends at once costs nothing.",
			Reports:   []string{"R050", "R100", "R105"},
		},
		{
			ID: "hung-close", Law: "L8", Class: "L", Title: "closing a session did not come back",
			Signature: "a close that failed, or never ended, after the limit had passed",
			Why:       "The close waits for something that the server decides: its exit, the end of its stdout, the answer to a call, a lock that a blocked write holds.",
			Fix:       bound + "Do not wait for the end of stdout (a helper may hold it), nor for calls in flight, nor for a lock that a write to a full pipe holds: fail the calls first, close the descriptors, then wait for the process.",
			Reports:   []string{"R078", "R089", "R091", "R094", "R095", "R099"},
		},
		{
			ID: "hung-call", Law: "L8", Class: "L", Title: "a call did not end with its time limit",
			Signature: "a call that the host was given a time limit for came back later than the limit and a whole close, or not at all",
			Why:       "The limit covers the wait for the answer and nothing else: not the write of the request into a pipe that is full, not the lock that this write holds, not the end of a server that died meanwhile.",
			Fix:       bound + "Let the time limit end the write as well: close the descriptor or set a deadline on it, and treat a session whose server does not read as broken. Fail the calls in flight when the server's stdout ends.",
			Reports:   []string{"R090", "R094", "R095"},
		},
		{
			ID: "slow-stop", Law: "L8", Class: "L", Title: "the host took too long to end",
			Signature: "a stop, or SIGTERM, after which the host ended by itself, later than the limit",
			Why:       "Servers are ended one after the other, so that their grace periods add up, or the stop waits for work that nobody wants any more.",
			Fix:       bound + "End all servers side by side, with one deadline over all of them that is shorter than the service manager's.",
			Reports:   []string{"R050", "R061", "R100"},
		},
		{
			ID: "hung-stop", Law: "L8", Class: "L", Title: "the host did not end when it was asked to",
			Signature: "a stop, or SIGTERM, after which the bench had to kill the host",
			Why:       "One server that does not end, or one call that does not return, holds up the end of the host. A service manager kills it then, and nobody is left who knows which servers to end.",
			Fix:       bound + "Put one deadline over the whole shutdown, end the servers in it first, and exit when it has passed, whatever is still in flight.",
			Reports:   []string{"R061", "R066", "R086", "R090", "R099"},
		},
		{
			ID: "no-recovery", Law: "L10", Class: "G", Title: "no session can be opened after the faults have ended",
			Signature: "an open, a job, or the first calls on a session opened after the last fault of the run failed, though they were expected to work",
			Why:       "What the faults left behind stands in the way: an entry for the dead connection that is never replaced, a retry count that is used up for good, a lock, a port or a descriptor that a stranded process holds.",
			Fix: "Drop the entry of a connection that has ended, so that the next use makes a new one; let the retry count recover; clear breakers and cooldowns on every path that starts afresh. " +
				"Check health by opening a session and calling a tool, not by looking at the table.",
			Reports: []string{"R004", "R016", "R039", "R071", "R126"},
		},
	}
}
