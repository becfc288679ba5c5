package law

var kindsLeft = []Kind{
	{
		ID: "deaf", Law: "L2", Class: "B", Title: "a server outlived the host and ignores the end of its stdin",
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
		Signature: "alive after the host's end; it has neither read the end of stdin nor caught a signal",
		Why:       "Nothing told it. It does not read stdin at the moment, because a call or a loop keeps it busy, or its stdin is none of the host's, and the host left without a signal.",
		Fix:       "Do not rely on the end of stdin alone: close it, and then signal the server's process group and wait for it before the host exits.",
		Reports:   []string{"R020", "R021", "R022", "R025", "R029", "R036", "R048", "R060", "R096"},
		Findings:  []Wording{{Title: "{n server} of {label} outlived the host"}},
	},
	{
		ID: "spinner", Law: "L2", Class: "C", Title: "a server outlived the host and burns a processor",
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
