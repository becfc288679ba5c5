package law

var kindsFlat = []Kind{
	{
		ID: "abandoned", Law: "L1", Class: "A", Title: "a server outlives its session",
		Headline:  "{host} kept {n server} after {its session|their sessions} had ended",
		Signature: "alive at the end of the watch; established; its session has ended; the host launched no other for it. Typically blocked in read(0), with the write end of its stdin held by the host",
		Why: "The host has let go of the client object and not of the process: a call was cancelled or ran out of time and the teardown was skipped with it, a finished session is kept for later, " +
			"or close() only told the task that owns the connection.",
		Fix: "Tie the process to the session, not to the path by which the session ends: give each session one owner that ends its server in a finally (defer, using, context exit) which also runs when the call is cancelled or times out, " +
			"shield that teardown from the cancellation, and let close() return only when the process is gone.",
		Reports: []string{"R002", "R017", "R020", "R037", "R058", "R063", "R065", "R066", "R071", "R103", "R106", "R107", "R109"},
		Findings: []Wording{
			{Title: "{n abandoned server} of {label} {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them abandoned"},
		},
	},
	{
		ID: "superseded", Law: "L1", Class: "A", Title: "a superseded server is still running",
		Headline:  "{host} kept {n old server} after reconnecting",
		Signature: "alive at the end of the watch; established; a newer server of the same session was launched after it, because the session was reconnected or reloaded, or because a fault had ended it",
		Why:       "The host put the new connection in the place of the old one and dropped the old one. A session that has ended on the wire is not a process that has ended: stdout may be closed while the process waits on stdin.",
		Fix: "End the predecessor before, or right after, its successor takes its place, on every path that assigns the connection: reconnect, reload, lazy respawn, health check. " +
			"Treat the end of stdout as the end of the session and not of the process: close stdin, wait, SIGTERM, wait, SIGKILL, and wait for the exit by the handle of that very launch.",
		Reports: []string{"R001", "R005", "R006", "R027", "R028", "R033", "R034", "R043", "R044", "R047", "R051", "R057", "R079", "R098", "R102"},
		Findings: []Wording{
			{Title: "{n superseded server} of {label} {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them superseded"},
		},
	},
	{
		ID: "init-stranded", Law: "L1", Class: "G", Title: "a server that never finished its handshake is still running",
		Headline:  "{host} left {n server} behind after {a failed handshake|failed handshakes}",
		Signature: "alive at the end of the watch; no initialize and no server/discover of it was ever answered",
		Why: "A failed or timed-out connect leaves a process that was never entered where teardown looks. The time limit ends the caller's waiting and not the connecting; " +
			"SDKs differ in whether a failed initialize ends the child, and most leave it to the caller.",
		Fix: "Own the process from the moment it is launched, not from the moment it is connected: whatever makes the connect fail (an error, a time-out, a cancellation, a refused version) has to end that process before the next attempt begins. " +
			"Call the client's close also when its connect has failed.",
		Reports: []string{"R004", "R016", "R024", "R042", "R051", "R052", "R097", "R126"},
		Findings: []Wording{
			{Title: "{n server} of {label} that never finished the handshake {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them never initialized"},
		},
	},
	{
		ID: "duplicate", Law: "L1", Class: "P", Title: "two servers were launched for one connection, and both are kept",
		Headline:  "{host} kept {n duplicate server} beside the one it uses",
		Signature: "alive at the end of the watch beside a newer server of the same session; nothing was wrong with it, and the session was not opened anew in between",
		Why:       "Two callers saw that there was no connection and both made one; the later one overwrote the entry of the earlier. Or a probe (for the protocol's era, for the list of tools) was launched beside the session's own server and not ended.",
		Fix: "Make one connect in flight per server the rule: enter the pending connect in the table before the first await, and let later callers wait for it. Where a probe needs a process of its own, end it as soon as it has answered. " +
			"If a second connect has won after all, end the loser's process.",
		Reports: []string{"R044", "R055", "R057", "R069", "R077"},
		Findings: []Wording{
			{Title: "{n duplicate server} of {label} {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them duplicate"},
		},
	},
	{
		ID: "launcher", Law: "L1", Class: "D", Title: "a launcher outlives its server",
		Headline:  "{host} kept {n launcher} without {its server|their servers}",
		Signature: "alive at the end of the watch; no birth certificate; it was the parent of a server, or stood between that and the host; the server is gone",
		Why:       "The host has ended the server, or given it the end of its stdin, and not what it had launched itself: npx, uvx, docker run or a shell, which waits for something else, or for nothing.",
		Fix:       "What you have launched is what you have to end and to wait for: launch it in a process group of its own, signal the group, and wait for the launcher by its handle. A server that is gone is not a launcher that is gone.",
		Reports:   []string{"R008", "R082", "R110"},
		Findings: []Wording{
			{
				Title:    "{n launcher} of {label} ({comm}) {is|are} still running ({cause})",
				Expected: "no launcher without its server at checkpoint {checkpoint}, within {settle}", Found: "{seen} still there",
			},
		},
	},
	{
		ID: "ghost", Law: "L1", Class: "P", Title: "a server was launched for a session that had ended",
		Headline:  "{host} launched {n server} for {a closed session|closed sessions}",
		Signature: "launched 100 ms or more after its session had ended, and not opened anew; gone again before a checkpoint looked",
		Why: "Something still serves a session that nobody has any more: a reconnect that a timer or the end of the server has set off, a health check, a queue of work that is not emptied by the close. " +
			"Each of them costs a launch, and one that meets the host's end, or a hung handshake, is a server that nobody will end.",
		Fix:     "Let the end of a session cancel what was to be done for it, timers and queues too, and wait for that; and look, right before each launch, whether the session is still wanted.",
		Reports: []string{"R007"},
		Findings: []Wording{{
			Title: "{n server} of {label} {was|were} launched for {a session|sessions} that had ended ({cause})", Expected: "no server launched for a session that has ended",
			Found: "{n server} launched, up to {slowest} after the end",
		}},
	},
	{
		ID: "late", Law: "L1", Class: "A", Title: "a server is gone, but later than it may be",
		Headline:  "{host} ended {n server} too late",
		Signature: "alive when the settle time was over, gone before the watch ended",
		Why:       "Something does end the server, only not the end of its session: the time-out of the request that was in flight, a periodic sweep, a garbage collector, or a ladder of grace periods longer than the host says.",
		Fix: "Let the end of the session end the server. If it is the host's time-out or sweep that does it, trigger that from close(). If the grace periods are meant to be that long, say so in the host's profile (settle): " +
			"the bench then allows for them.",
		Reports: []string{"R074", "R100", "R107"},
		Findings: []Wording{
			{Title: "{n server} of {label} went late ({cause}): up to {slowest}, {settle} allowed", Found: "{alive} alive, {seen} of them late, gone after up to {slowest}"},
		},
	},
}

var kindsLeft = []Kind{
	{
		ID: "deaf", Law: "L2", Class: "B", Title: "a server outlived the host and ignores the end of its stdin",
		Headline:  "{host} left {n server} running that {ignores|ignore} stdin EOF",
		Signature: "alive after the host's end; it read the end of stdin, and stayed; no signal reached it",
		Why:       "Servers that ignore the end of stdin are common: a timer, a socket or a thread keeps them running. Some ignore SIGTERM too. A host that closes its pipes and leaves has asked, and not made sure.",
		Fix: "Escalate, and do it before exiting: close stdin, wait, SIGTERM, wait, SIGKILL, to the process group of each server, and wait for each. Not in a timer or a background task, which end with the process. " +
			"For the case that the host is killed: PR_SET_PDEATHSIG on Linux (set between fork and exec, by a thread that lives as long as the host), a Job Object with KILL_ON_JOB_CLOSE on Windows, " +
			"a supervisor that holds a pipe of the host elsewhere, or a cgroup of its own with KillMode=control-group.",
		Reports:  []string{"R030", "R053", "R056", "R067", "R081", "R085", "R101", "R110", "R111", "R112", "R113"},
		Findings: []Wording{{Title: "{n server} of {label} ignored the end of the host"}},
	},
	{
		ID: "orphan", Law: "L2", Class: "B", Title: "a server outlived the host and was never told",
		Headline:  "{host} left {n server} running without telling {it|them}",
		Signature: "alive after the host's end; it has neither read the end of stdin nor caught a signal",
		Why:       "Nothing told it. It does not read stdin at the moment, because a call or a loop keeps it busy, or its stdin is none of the host's, and the host left without a signal.",
		Fix:       "Do not rely on the end of stdin alone: close it, and then signal the server's process group and wait for it before the host exits.",
		Reports:   []string{"R020", "R021", "R022", "R025", "R029", "R036", "R048", "R060", "R096"},
		Findings:  []Wording{{Title: "{n server} of {label} outlived the host"}},
	},
	{
		ID: "spinner", Law: "L2", Class: "C", Title: "a server outlived the host and burns a processor",
		Headline:  "{host} left {n server} running that {burns|burn} a processor",
		Signature: "alive after the host's end, with half of a processor or more used between the two looks at the checkpoint",
		Why:       "A read that returns 0 at once, or a write that fails with EPIPE, in a loop that takes neither for the end.",
		Fix:       "The loop is the server's bug, the survival is the host's: end the server, with SIGKILL at the end of the ladder, before exiting. In the server: a read of 0 bytes, or EPIPE, is the end of the session; leave the loop and exit.",
		Reports: []string{
			"R031", "R033", "R087", "R093", "R104", "R114", "R115", "R116", "R117",
		},
		Findings: []Wording{{Title: "{n server} of {label} outlived the host and {is|are} busy"}},
	},
	{
		ID: "shielded", Law: "L2", Also: []string{"L1"}, Class: "D", Title: "a server survived behind its launcher",
		Headline:  "{host} left {n server} running behind {a launcher|launchers}",
		Signature: "alive after the host's end, or after that of its session (then it breaks L1); it was launched through another process (a shell, npx, uvx), which is gone; no signal reached the server itself",
		Why:       "The host knows the pid of the launcher and signals that. The launcher dies and does not pass the signal on, and its child goes to init.",
		Fix: "Launch each server in a process group or a session of its own and signal the group (killpg), not the pid; on Windows put it into a Job Object. Do not skip the group because its leader is gone already: " +
			"the members are what is left. Where you can, launch the server itself instead of a shell line (exec in the wrapper).",
		Reports: []string{"R006", "R008", "R022", "R023", "R030", "R046", "R052", "R054", "R070", "R072", "R076", "R082", "R084", "R110"},
		Findings: []Wording{
			{Law: "L1", Title: "{n server} of {label} {is|are} still running behind a launcher that is gone ({cause})", Found: "{alive} alive, {seen} of them behind a launcher that is gone"},
			{Law: "L2", Title: "{n server} of {label} outlived the host behind a launcher"},
		},
	},
	{
		ID: "escaped", Law: "L2", Also: []string{"L1"}, Class: "E", Title: "a process left the host's reach in a session of its own",
		Headline:  "{host} left {n process} running in {a session of its own|sessions of their own}",
		Signature: "alive after the host's end, or after that of its session (then it breaks L1); in a session that is neither the host's nor one that the host gave to what it launched",
		Why:       "setsid, or a double fork, takes a process out of the group that the host signals. Its parent is gone, so a walk along parents does not find it either.",
		Fix: "Groups and ancestry can't hold what leaves them. Give each server a container that it can't leave: a cgroup (cgroup.kill), a Job Object, a pid namespace; or be the child subreaper, so that what is orphaned comes home and can be ended. " +
			"Do not put a second setsid between yourself and the server.",
		Reports: []string{"R009", "R018", "R050", "R056", "R088"},
		Findings: []Wording{
			{Law: "L1", Title: "{n server} of {label} {is|are} still running in a session of its own ({cause})", Found: "{alive} alive, {seen} of them in a session of its own"},
			{Law: "L2", Title: "{n server} of {label} outlived the host in a session of its own"},
		},
	},
	{
		ID: "helper", Law: "L2", Also: []string{"L1"}, Class: "D", Title: "a process that no server accounts for outlived the host, or its session",
		Headline:  "{host} left {n helper process} running",
		Signature: "alive after the host's end, or below the living host after that of its session (then it breaks L1); no birth certificate; in the host's session, or in one that the host gave to what it launched",
		Why:       "A launcher, a watchdog, a browser or another helper of a server or of the host: the direct child was ended, its children were not.",
		Fix:       "End process groups, not processes, and check that the group is empty before you forget it: killpg(group, 0) succeeds for as long as a member lives. What the host starts for itself (watchdogs, probes, shells) needs the same.",
		Reports:   []string{"R008", "R018", "R038", "R050", "R082", "R088"},
		Findings: []Wording{
			{
				Law: "L1", Title: "{n helper} of {label} ({comm}) {is|are} still running ({cause})",
				Expected: "no helper of an ended session at checkpoint {checkpoint}, within {settle}", Found: "{seen} still there",
			},
			{Title: "{n process} that no server accounts for ({comm}) outlived the host"},
		},
	},
}

const onlyYourOwn = "Signal only what you launched, and only through the handle that its launch returned (a pidfd, a process object, a Job Object), not through a list of pids. Where it has to be a pid: keep its start time, and compare it right before each signal. " +
	"End the one server whose session has ended; leave what belongs to others to its owners."

var kindsCollateral = []Kind{
	{
		ID: "killed", Law: "L3", Class: "M", Title: "the server of a live session was killed",
		Headline:  "{host} killed {n live server}",
		Signature: "a server that nothing was wrong with died without the end of stdin and without a signal it could catch, while its session was live",
		Why:       "A cleanup took more than was meant: it went by a list of all known pids, by the command line, by a group that is shared, or by a number that belongs to somebody else now.",
		Fix:       onlyYourOwn, Reports: []string{"R003", "R011", "R039", "R055", "R107", "R119", "R122"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} killed {cause}"}},
	},
	{
		ID: "terminated", Law: "L3", Class: "M", Title: "the server of a live session was told to end by a signal",
		Headline:  "{host} told {n live server} to end by a signal",
		Signature: "a server that nothing was wrong with caught SIGTERM, SIGINT or SIGHUP while its session was live",
		Why:       "A cleanup took more than was meant: a sweep at the end of one session or job that signals every pid it knows, or a signal to a process group in which others live too.",
		Fix:       onlyYourOwn, Reports: []string{"R002", "R003", "R010", "R012", "R055", "R122"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} told to end by a signal {cause}"}},
	},
	{
		ID: "cut-off", Law: "L3", Class: "M", Title: "the stdin of a live session's server was closed",
		Headline:  "{host} closed the stdin of {n live server}",
		Signature: "a server that nothing was wrong with read the end of stdin while its session was live",
		Why:       "Two sessions share a client, or an owner of connections was replaced, and the end of one took the connection of the other with it.",
		Fix:       "Count the users of a shared connection, and close it with the last one; or give each session a connection of its own. Close by the object of that very connection, never by the server's name: by then the name may stand for its successor.",
		Reports:   []string{"R039", "R107", "R108"},
		Findings:  []Wording{{Title: "{n server} of {label} {was|were} cut off {cause}"}},
	},
	{
		ID: "missing", Law: "L3", Class: "M", Title: "a session is open, and its server is gone",
		Headline:  "{host} lost {n server} of {an open session|open sessions}",
		Signature: "at a checkpoint the newest server of an open session is dead, though no fault had ended it; an older one that lives does not make up for it",
		Why:       "The host ended the wrong one of two (the new instead of the old), or ended a server while its session was being set up, and calls the session open.",
		Fix:       "When a connection is replaced, end the old one by its own handle. Do not look for it by name, by command line, or by what is in the table now: that is the new one. After a teardown, check that what should live does.",
		Reports:   []string{"R003", "R039", "R107"},
		Findings:  []Wording{{Title: "{n server} of {label} {was|were} missing at checkpoint {checkpoint} though its session is open"}},
	},
	{
		ID: "bystander", Law: "L3", Class: "M", Title: "a process that is none of the host's was ended",
		Headline:  "{host} killed {n process} that {is|are} not its own",
		Signature: "the bench's own process in the host's process group, which no server and no launcher knows, was ended by a signal before the bench swept it",
		Why: "The host signalled its own process group (kill(0, ...), kill(-pgid, ...) with its own or an inherited group), or chose its victims by name. Whatever was started beside it by the same shell, " +
			"service or pipeline goes down with its servers.",
		Fix:     "Start each server in a process group (or session) of its own, and signal that group alone. Before a signal to a group, check that it is not your own: getpgid(child) != getpgrp(). " + onlyYourOwn,
		Reports: []string{"R010"},
		Findings: []Wording{{
			Title:     "a bystander in the host's process group was ended {cause}",
			Expected:  "a process that the host did not start left alone",
			Found:     "it was ended {cause}",
			Value:     "pid {pid} in {group}: {how} at {at}",
			Narrative: "The bench had put a process (pid {pid}) into {group} that does nothing and is none of the host's. It {how} at {at}, {cause}.",
		}},
	},
	{
		ID: "twin", Law: "L3", Class: "M", Title: "a process that only looks like a server of the host's was ended",
		Headline:  "{host} killed {n process} that only {looks|look} like {a server|servers} of its own",
		Signature: "the bench's own process with the very command line of a server, in a session of its own and no child of the host's, was ended by a signal before the bench swept it",
		Why: "The host chose whom to end by the name or the command line (pkill -f, a walk over /proc or the output of ps). The same server, started with the same configuration by another client, a second window, " +
			"a cron job or another user's agent, looks exactly like it.",
		Fix:     "Never choose by the command line whom to signal. " + onlyYourOwn + " For what an earlier run of the host has left: a list on disk of pid and start time, or a mark of that very launch in its environment, not its command.",
		Reports: []string{"R055", "R107", "R122"},
		Findings: []Wording{{
			Title:    "a process with the command line of {label} that is none of the host's was ended {cause}",
			Expected: "a process that the host did not start left alone, whatever it looks like",
			Found:    "it was ended {cause}",
			Value:    "pid {pid} with the command line of {server}: {how} at {at}",
			Narrative: "The bench had started a process (pid {pid}) with the very command line of a server of {server}, in a session of its own and no child of the host's. " +
				"It {how} at {at}, {cause}: nothing but its command line, or its name, has it in common with what the host launched.",
		}},
	},
	{
		ID: "recycled", Law: "L3", Class: "M", Title: "a process that had got a dead server's pid was ended",
		Headline:  "{host} killed {n process} that had reused the PID of {a dead server|dead servers}",
		Signature: "the bench's own process, to which the system had given the pid of a server that was dead and waited for, and a group of that number, was ended by a signal before the bench swept it",
		Why: "The host keeps the number of a process, or of a group, for longer than the process: in a set of known pids, in a table that a sweep goes through, in a file. The system gives numbers out again, and kill() asks nobody who has it now. " +
			"A gateway that runs for days gets there; so does a container, where numbers are small and few.",
		Fix:     "Drop the number when the process has been waited for. " + onlyYourOwn + " The number of a group is as good as its leader: it is free when leader and members are gone, so signal the group before the leader is waited for.",
		Reports: []string{"R011", "R125"},
		Findings: []Wording{{
			Title:    "a process that had got the pid of a dead server of {label} was ended {cause}",
			Expected: "a pid that was waited for never signalled again",
			Found:    "whoever had it by then was ended {cause}",
			Value:    "pid {pid}, with the number that {server} had: {how} at {at}",
			Narrative: "{server} had died and been waited for, and the system had given its pid, and the number of its group, to a process that is none of the host's (pid {pid} out here). " +
				"It {how} at {at}, {cause}: somebody signalled the number, and not the process.",
		}},
	},
}
