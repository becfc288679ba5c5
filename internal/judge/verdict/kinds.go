package verdict

func kindsFlat() []Kind {
	return []Kind{
		{
			ID: "abandoned", Law: "L1", Class: "A", Title: "a server outlives its session",
			Signature: "alive at the end of the watch; established; its session has ended; the host launched no other for it. Typically blocked in read(0), with the write end of its stdin held by the host",
			Why: "The host has let go of the client object and not of the process: a call was cancelled or ran out of time and the teardown was skipped with it, a finished session is kept for later, " +
				"or close() only told the task that owns the connection.",
			Fix: "Tie the process to the session, not to the path by which the session ends: give each session one owner that ends its server in a finally (defer, using, context exit) which also runs when the call is cancelled or times out, " +
				"shield that teardown from the cancellation, and let close() return only when the process is gone.",
			Reports: []string{"R002", "R017", "R020", "R037", "R058", "R063", "R065", "R066", "R071", "R103", "R106", "R107", "R109"},
		},
		{
			ID: "superseded", Law: "L1", Class: "A", Title: "a superseded server is still running",
			Signature: "alive at the end of the watch; established; a newer server of the same session was launched after it, because the session was reconnected or reloaded, or because a fault had ended it",
			Why:       "The host put the new connection in the place of the old one and dropped the old one. A session that has ended on the wire is not a process that has ended: stdout may be closed while the process waits on stdin.",
			Fix: "End the predecessor before, or right after, its successor takes its place, on every path that assigns the connection: reconnect, reload, lazy respawn, health check. " +
				"Treat the end of stdout as the end of the session and not of the process: close stdin, wait, SIGTERM, wait, SIGKILL, and wait for the exit by the handle of that very launch.",
			Reports: []string{"R001", "R005", "R006", "R027", "R028", "R033", "R034", "R043", "R044", "R047", "R051", "R057", "R079", "R098", "R102"},
		},
		{
			ID: "init-stranded", Law: "L1", Class: "G", Title: "a server that never finished its handshake is still running",
			Signature: "alive at the end of the watch; no initialize and no server/discover of it was ever answered",
			Why: "A failed or timed-out connect leaves a process that was never entered where teardown looks. The time limit ends the caller's waiting and not the connecting; " +
				"SDKs differ in whether a failed initialize ends the child, and most leave it to the caller.",
			Fix: "Own the process from the moment it is launched, not from the moment it is connected: whatever makes the connect fail (an error, a time-out, a cancellation, a refused version) has to end that process before the next attempt begins. " +
				"Call the client's close also when its connect has failed.",
			Reports: []string{"R004", "R016", "R024", "R042", "R051", "R052", "R097", "R126"},
		},
		{
			ID: "duplicate", Law: "L1", Class: "P", Title: "two servers were launched for one connection, and both are kept",
			Signature: "alive at the end of the watch beside a newer server of the same session; nothing was wrong with it, and the session was not opened anew in between",
			Why:       "Two callers saw that there was no connection and both made one; the later one overwrote the entry of the earlier. Or a probe (for the protocol's era, for the list of tools) was launched beside the session's own server and not ended.",
			Fix: "Make one connect in flight per server the rule: enter the pending connect in the table before the first await, and let later callers wait for it. Where a probe needs a process of its own, end it as soon as it has answered. " +
				"If a second connect has won after all, end the loser's process.",
			Reports: []string{"R044", "R055", "R057", "R069", "R077"},
		},
		{
			ID: "late", Law: "L1", Class: "A", Title: "a server is gone, but later than it may be",
			Signature: "alive when the settle time was over, gone before the watch ended",
			Why:       "Something does end the server, only not the end of its session: the time-out of the request that was in flight, a periodic sweep, a garbage collector, or a ladder of grace periods longer than the host says.",
			Fix: "Let the end of the session end the server. If it is the host's time-out or sweep that does it, trigger that from close(). If the grace periods are meant to be that long, say so in the host's profile (settle): " +
				"the bench then allows for them.",
			Reports: []string{"R074", "R100", "R107"},
		},
	}
}

func kindsLeft() []Kind {
	return []Kind{
		{
			ID: "deaf", Law: "L2", Class: "B", Title: "a server outlived the host and ignores the end of its stdin",
			Signature: "alive after the host's end; it read the end of stdin, and stayed; no signal reached it",
			Why:       "Servers that ignore the end of stdin are common: a timer, a socket or a thread keeps them running. Some ignore SIGTERM too. A host that closes its pipes and leaves has asked, and not made sure.",
			Fix: "Escalate, and do it before exiting: close stdin, wait, SIGTERM, wait, SIGKILL, to the process group of each server, and wait for each. Not in a timer or a background task, which end with the process. " +
				"For the case that the host is killed: PR_SET_PDEATHSIG on Linux (set between fork and exec, by a thread that lives as long as the host), a Job Object with KILL_ON_JOB_CLOSE on Windows, " +
				"a supervisor that holds a pipe of the host elsewhere, or a cgroup of its own with KillMode=control-group.",
			Reports: []string{"R030", "R053", "R056", "R067", "R081", "R085", "R101", "R110", "R111", "R112", "R113"},
		},
		{
			ID: "orphan", Law: "L2", Class: "B", Title: "a server outlived the host and was never told",
			Signature: "alive after the host's end; it has neither read the end of stdin nor caught a signal",
			Why:       "Nothing told it. It does not read stdin at the moment, because a call or a loop keeps it busy, or its stdin is none of the host's, and the host left without a signal.",
			Fix:       "Do not rely on the end of stdin alone: close it, and then signal the server's process group and wait for it before the host exits.",
			Reports:   []string{"R020", "R021", "R022", "R025", "R029", "R036", "R048", "R060", "R096"},
		},
		{
			ID: "spinner", Law: "L2", Class: "C", Title: "a server outlived the host and burns a processor",
			Signature: "alive after the host's end, with half of a processor or more used between the two looks at the checkpoint",
			Why:       "A read that returns 0 at once, or a write that fails with EPIPE, in a loop that takes neither for the end.",
			Fix:       "The loop is the server's bug, the survival is the host's: end the server, with SIGKILL at the end of the ladder, before exiting. In the server: a read of 0 bytes, or EPIPE, is the end of the session; leave the loop and exit.",
			Reports: []string{
				"R031", "R033", "R087", "R093", "R104", "R114", "R115", "R116", "R117",
			},
		},
		{
			ID: "shielded", Law: "L2", Also: []string{"L1"}, Class: "D", Title: "a server survived behind its launcher",
			Signature: "alive after the host's end, or after that of its session (then it breaks L1); it was launched through another process (a shell, npx, uvx), which is gone; no signal reached the server itself",
			Why:       "The host knows the pid of the launcher and signals that. The launcher dies and does not pass the signal on, and its child goes to init.",
			Fix: "Launch each server in a process group or a session of its own and signal the group (killpg), not the pid; on Windows put it into a Job Object. Do not skip the group because its leader is gone already: " +
				"the members are what is left. Where you can, launch the server itself instead of a shell line (exec in the wrapper).",
			Reports: []string{"R006", "R008", "R022", "R023", "R030", "R046", "R052", "R054", "R070", "R072", "R076", "R082", "R084", "R110"},
		},
		{
			ID: "escaped", Law: "L2", Also: []string{"L1"}, Class: "E", Title: "a process left the host's reach in a session of its own",
			Signature: "alive after the host's end, or after that of its session (then it breaks L1); in a session that is neither the host's nor one that the host gave to what it launched",
			Why:       "setsid, or a double fork, takes a process out of the group that the host signals. Its parent is gone, so a walk along parents does not find it either.",
			Fix: "Groups and ancestry can't hold what leaves them. Give each server a container that it can't leave: a cgroup (cgroup.kill), a Job Object, a pid namespace; or be the child subreaper, so that what is orphaned comes home and can be ended. " +
				"Do not put a second setsid between yourself and the server.",
			Reports: []string{"R009", "R018", "R050", "R056", "R088"},
		},
		{
			ID: "helper", Law: "L2", Class: "D", Title: "a process that no server accounts for outlived the host",
			Signature: "alive after the host's end; no birth certificate; in the host's session, or in one that the host gave to what it launched",
			Why:       "A launcher, a watchdog, a browser or another helper of a server or of the host: the direct child was ended, its children were not.",
			Fix:       "End process groups, not processes, and check that the group is empty before you forget it: killpg(group, 0) succeeds for as long as a member lives. What the host starts for itself (watchdogs, probes, shells) needs the same.",
			Reports:   []string{"R008", "R018", "R038", "R050", "R082", "R088"},
		},
	}
}
