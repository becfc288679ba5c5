package law

import "github.com/leakbench/leakbench/internal/record"

var kindsFlat = []Kind{
	{
		ID: "abandoned", Law: "L1", Class: "A", Title: "a server outlives its session",
		Headline: "{host} kept {n server} after {its session|their sessions} had ended",
		Signature: "alive at the end of the watch; established; its session has ended and the host launched no other server for it. " +
			"Typically it blocks in read(0) while the host holds the write end of its stdin",
		Why: "The host let go of the client object but not of the process. A call was cancelled or timed out and the teardown was " +
			"skipped, a finished session was kept for later, or close() only notified the task that owns the connection.",
		Fix: "Tie the process to the session, not to the path on which the session ends. Give each session one owner that ends its " +
			"server in a finally block (defer, using, context exit). That block must also run when the call is cancelled or times " +
			"out: shield the teardown from the cancellation. Let close() return only when the process is gone.",
		Reports: []string{"R002", "R017", "R020", "R037", "R058", "R063", "R065", "R066", "R071", "R103", "R106", "R107", "R109"},
		Findings: []Wording{
			{Title: "{n abandoned server} of {label} {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them abandoned"},
		},
	},
	{
		ID: "superseded", Law: "L1", Class: "A", Title: "a superseded server is still running",
		Headline: "{host} kept {n old server} after reconnecting",
		Signature: "alive at the end of the watch; established; a newer server of the same session was launched after it, because the " +
			"session was reconnected or reloaded, or because a fault had ended it",
		Why: "The host stored the new connection in place of the old one and dropped the old one. The end of a session on the wire " +
			"is not the end of its process: a server can close stdout and still wait on stdin.",
		Fix: "End the old server before, or right after, the new one takes its place, on every path that replaces a connection: " +
			"reconnect, reload, lazy respawn, health check. Treat stdout EOF as the end of the session, not of the process: close " +
			"stdin, wait, SIGTERM, wait, SIGKILL. Then wait for the exit through the handle of that launch.",
		Reports: []string{"R001", "R005", "R006", "R027", "R028", "R033", "R034", "R043", "R044", "R047", "R051", "R057", "R079", "R098", "R102"},
		Findings: []Wording{
			{
				Cause: record.CauseWatched, Title: "{n superseded server} of {label} {is|are} still running, and the host uses a newer one",
				Expected: "of each command line as many servers as the host uses",
				Found:    "{n server} that the host stopped using before it launched one that it uses",
			},
			{Title: "{n superseded server} of {label} {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them superseded"},
		},
	},
	{
		ID: "init-stranded", Law: "L1", Class: "G", Title: "a server that never finished the handshake is still running",
		Headline:  "{host} left {n server} behind after {a failed handshake|failed handshakes}",
		Signature: "alive at the end of the watch; none of its initialize and server/discover requests was ever answered",
		Why: "A connect that fails or times out leaves a process that was never registered where the teardown looks. The timeout " +
			"ends the caller's wait, not the connect itself. SDKs differ in whether a failed initialize ends the child process, " +
			"and most leave it to the caller.",
		Fix: "Own the process from its launch, not from the moment it is connected. Whatever makes the connect fail (an error, a " +
			"timeout, a cancellation, a refused version) must end that process before the next attempt begins. Call the client's " +
			"close even when its connect failed.",
		Reports: []string{"R004", "R016", "R024", "R042", "R051", "R052", "R097", "R126"},
		Findings: []Wording{
			{
				Title: "{n server} of {label} that never finished the handshake {is|are} still running ({cause})",
				Found: "{alive} alive, {seen} of them never initialized",
			},
		},
	},
	{
		ID: "duplicate", Law: "L1", Class: "P", Title: "two servers were launched for one connection, and both are kept",
		Headline: "{host} kept {n duplicate server} beside the one it uses",
		Signature: "alive at the end of the watch beside a newer server of the same session; nothing was wrong with it, and the session " +
			"was not reopened in between",
		Why: "Two callers found no connection and each made one; the later one overwrote the entry of the earlier one. Or a probe " +
			"(for the protocol version, for the list of tools) was launched beside the session's own server and not ended.",
		Fix: "Allow one connect in flight per server: store the pending connect before the first await, and let later callers wait " +
			"for it. If a probe needs a process of its own, end that process as soon as it has answered. If a second connect wins " +
			"anyway, end the process of the one that lost.",
		Reports: []string{"R044", "R055", "R057", "R069", "R077"},
		Findings: []Wording{
			{Title: "{n duplicate server} of {label} {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them duplicate"},
		},
	},
	{
		ID: "launcher", Law: "L1", Class: "D", Title: "a launcher outlives its server",
		Headline: "{host} kept {n launcher} without {its server|their servers}",
		Signature: "alive at the end of the watch; no birth certificate; it was the parent of a server, or stood between the server and " +
			"the host; the server is gone",
		Why: "The host ended the server, or closed its stdin, but did not end what it had launched itself. That is npx, uvx, docker " +
			"run or a shell, which waits for something else, or for nothing.",
		Fix: "End what you launched, and wait for it. Launch it in a process group of its own, signal the group, and wait for the " +
			"launcher through its handle. The exit of the server does not mean that its launcher exited.",
		Reports: []string{"R008", "R082", "R110"},
		Findings: []Wording{
			{
				Title:    "{n launcher} of {label} ({comm}) {is|are} still running ({cause})",
				Expected: "no launcher without its server at checkpoint {checkpoint}, within {settle}", Found: "{seen} still there",
			},
		},
	},
	{
		ID: "ghost", Law: "L1", Class: "P", Title: "a server was launched for a session that had ended",
		Headline: "{host} launched {n server} for {a closed session|closed sessions}",
		Signature: "launched after its session had ended, and the session was not reopened; alive at the end of the watch. One that is gone " +
			"again before a checkpoint looked must have been launched 100 ms or more after that end",
		Why: "Something still works for a session that has ended: a reconnect timer, a reaction to the server's exit, a health " +
			"check, or a queue that the close did not empty. Each of these costs a launch. If the host ends meanwhile, or the " +
			"handshake hangs, nobody will end that server.",
		Fix: "When a session ends, cancel everything that is scheduled for it, timers and queues included, and wait for that. Right " +
			"before each launch, check that the session is still open.",
		Reports: []string{"R007"},
		Findings: []Wording{{
			Title:    "{n server} of {label} {was|were} launched for {a session|sessions} that had ended ({cause})",
			Expected: "no server launched for a session that has ended",
			Found:    "{n server} launched, up to {slowest} after the end",
		}},
	},
	{
		ID: "late", Law: "L1", Class: "A", Title: "a server exited, but too late",
		Headline:  "{host} ended {n server} too late",
		Signature: "alive when the settle time was over, gone before the watch ended",
		Why: "Something ends the server, but not the end of its session: the timeout of the request in flight, a periodic sweep, a " +
			"garbage collector, or grace periods that are longer than the host declares.",
		Fix: "End the server when its session ends. If the host's timeout or sweep does it today, trigger that from close(). If the " +
			"grace periods are meant to be that long, declare them in the host's profile (settle), and leakbench allows for them.",
		Reports: []string{"R074", "R100", "R107"},
		Findings: []Wording{
			{
				Title: "{n server} of {label} exited late ({cause}): up to {slowest}, {settle} allowed",
				Found: "{alive} alive, {seen} of them late, gone after up to {slowest}",
			},
		},
	},
}

var kindsLeft = []Kind{
	{
		ID: "deaf", Law: "L2", Class: "B", Title: "a server outlived the host and ignores stdin EOF",
		Headline:  "{host} left {n server} running that {ignores|ignore} stdin EOF",
		Signature: "alive after the host's end; it read stdin EOF and stayed; no signal reached it",
		Why: "Many servers ignore stdin EOF: a timer, a socket or a thread keeps them running. Some ignore SIGTERM too. A host that " +
			"closes its pipes and exits has asked them to exit, but has not made sure.",
		Fix: "Escalate before the host exits: close stdin, wait, SIGTERM, wait, SIGKILL, to the process group of each server, and " +
			"wait for each exit. Do not do it in a timer or a background task, which end with the process. Prepare for a killed " +
			"host as well. On Linux use PR_SET_PDEATHSIG, set between fork and exec, by a thread that lives as long as the host. On" +
			" Windows use a Job Object with KILL_ON_JOB_CLOSE. Elsewhere use a supervisor that holds a pipe of the host, or a " +
			"cgroup with KillMode=control-group.",
		Reports: []string{"R030", "R053", "R056", "R067", "R081", "R085", "R101", "R110", "R111", "R112", "R113"},
		Findings: []Wording{
			{
				Cause: record.CauseWatched, Title: "{n server} of {label} {has|have} lost {its|their} host and {ignores|ignore} stdin EOF",
				Expected: "no process left of a host that has ended", Found: "{n process} left",
			},
			{Title: "{n server} of {label} ignored stdin EOF when the host ended"},
		},
	},
	{
		ID: "orphan", Law: "L2", Class: "B", Title: "a server outlived the host and was never told",
		Headline:  "{host} left {n server} running without telling {it|them}",
		Signature: "alive after the host's end; it has neither read stdin EOF nor caught a signal",
		Why: "Nothing told the server to exit. It is not reading stdin, because a call or a loop keeps it busy, or its stdin is not " +
			"the host's pipe, and the host exited without a signal.",
		Fix:     "Do not rely on stdin EOF alone. Close stdin, then signal the server's process group, and wait for it before the host exits.",
		Reports: []string{"R020", "R021", "R022", "R025", "R029", "R036", "R048", "R060", "R096"},
		Findings: []Wording{
			{
				Cause: record.CauseWatched, Title: "{n server} of {label} outlived the host",
				Expected: "no process left of a host that has ended", Found: "{n process} left",
			},
			{Title: "{n server} of {label} outlived the host"},
		},
	},
	{
		ID: "spinner", Law: "L2", Class: "C", Title: "a server outlived the host and uses a whole CPU",
		Headline:  "{host} left {n server} running that {uses|use} a whole CPU",
		Signature: "alive after the host's end, with half of a CPU or more used between the two looks at the checkpoint",
		Why:       "A loop treats neither a read that returns 0 nor a write that fails with EPIPE as the end.",
		Fix: "The loop is the server's bug, its survival is the host's: end the server before exiting, with SIGKILL as the last " +
			"step. In the server: a read of 0 bytes, or EPIPE, ends the session; leave the loop and exit.",
		Reports: []string{
			"R031", "R033", "R087", "R093", "R104", "R114", "R115", "R116", "R117",
		},
		Findings: []Wording{{Title: "{n server} of {label} outlived the host and {uses|use} a whole CPU"}},
	},
	{
		ID: "shielded", Law: "L2", Also: []string{"L1"}, Class: "D", Title: "a server survived behind its launcher",
		Headline: "{host} left {n server} running behind {a launcher|launchers}",
		Signature: "alive after the host's end, or after the end of its session (then it breaks L1); launched through another process (a " +
			"shell, npx, uvx) that is gone; no signal reached the server itself",
		Why: "The host knows the launcher's PID and signals that. The launcher dies without passing the signal on, and its child is " +
			"reparented to init.",
		Fix: "Launch each server in a process group or session of its own and signal the group (killpg), not the PID. On Windows, " +
			"put it into a Job Object. Signal the group even when its leader is gone: its other members are what is left. Where " +
			"you can, launch the server itself instead of a shell line (exec in the wrapper).",
		Reports: []string{"R006", "R008", "R022", "R023", "R030", "R046", "R052", "R054", "R070", "R072", "R076", "R082", "R084", "R110"},
		Findings: []Wording{
			{
				Law: "L1", Title: "{n server} of {label} {is|are} still running behind a launcher that is gone ({cause})",
				Found: "{alive} alive, {seen} of them behind a launcher that is gone",
			},
			{Law: "L2", Title: "{n server} of {label} outlived the host behind a launcher"},
		},
	},
	{
		ID: "escaped", Law: "L2", Also: []string{"L1"}, Class: "E", Title: "a process left the host's reach with a session of its own",
		Headline: "{host} left {n process} running in {a session of its own|sessions of their own}",
		Signature: "alive after the host's end, or after the end of its session (then it breaks L1). It is in a session that is neither " +
			"the host's nor one that the host gave to what it launched",
		Why: "setsid, or a double fork, takes a process out of the group that the host signals. Its parent is gone, so a search " +
			"from parent to child does not find it either.",
		Fix: "Process groups and ancestry do not hold a process that leaves them. Give each server a container that it can't leave: " +
			"a cgroup (cgroup.kill), a Job Object, a PID namespace. Or become the child subreaper, so that orphans are reparented " +
			"to you and you can end them. Do not put a second setsid between yourself and the server.",
		Reports: []string{"R009", "R018", "R050", "R056", "R088"},
		Findings: []Wording{
			{
				Law: "L1", Title: "{n server} of {label} {is|are} still running in a session of its own ({cause})",
				Found: "{alive} alive, {seen} of them in a session of its own",
			},
			{Law: "L2", Title: "{n server} of {label} outlived the host in a session of its own"},
		},
	},
	{
		ID: "helper", Law: "L2", Also: []string{"L1"}, Class: "D", Title: "a helper process outlived the host, or its session",
		Headline: "{host} left {n helper process} running",
		Signature: "alive after the host's end, or below the living host after the end of its session (then it breaks L1). It has no birth" +
			" certificate. It is in the host's session, or in one that the host gave to what it launched",
		Why: "It is a launcher, a watchdog, a browser or another helper of a server or of the host. The host ended its direct " +
			"child, but not the children of that child.",
		Fix: "End process groups, not single processes, and check that the group is empty before you forget it: killpg(group, 0) " +
			"succeeds as long as a member lives. Treat what the host starts for itself (watchdogs, probes, shells) the same way.",
		Reports: []string{"R008", "R018", "R038", "R050", "R082", "R088"},
		Findings: []Wording{
			{
				Law: "L1", Title: "{n helper} of {label} ({comm}) {is|are} still running ({cause})",
				Expected: "no helper of an ended session at checkpoint {checkpoint}, within {settle}", Found: "{seen} still there",
			},
			{Title: "{n helper process} ({comm}) outlived the host"},
		},
	},
}

const onlyYourOwn = "Signal only what you launched, and only through the handle that its launch returned (a pidfd, a process object, " +
	"a Job Object), not through a list of PIDs. Where it has to be a PID: keep its start time, and compare it right before each signal. " +
	"End only the server whose session has ended."

var kindsCollateral = []Kind{
	{
		ID: "killed", Law: "L3", Class: "M", Title: "the server of a live session was killed",
		Headline:  "{host} killed {n live server}",
		Signature: "a healthy server died without stdin EOF and without a signal it could catch, while its session was live",
		Why: "A cleanup hit more than it should. It went by a list of all known PIDs, by the command line, by a shared process " +
			"group, or by a PID that now belongs to another process.",
		Fix: onlyYourOwn, Reports: []string{"R003", "R011", "R039", "R055", "R107", "R119", "R122"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} killed {cause}"}},
	},
	{
		ID: "terminated", Law: "L3", Class: "M", Title: "the server of a live session was signalled to exit",
		Headline:  "{host} signalled {n live server} to exit",
		Signature: "a healthy server caught SIGTERM, SIGINT or SIGHUP while its session was live",
		Why: "A cleanup hit more than it should: a sweep at the end of one session or job that signals every known PID, or a signal " +
			"to a process group that others share.",
		Fix: onlyYourOwn, Reports: []string{"R002", "R003", "R010", "R012", "R055", "R122"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} signalled to exit {cause}"}},
	},
	{
		ID: "cut-off", Law: "L3", Class: "M", Title: "the stdin of a live session's server was closed",
		Headline:  "{host} closed the stdin of {n live server}",
		Signature: "a healthy server read stdin EOF while its session was live",
		Why: "Two sessions share a client, or an owner of connections was replaced, and the end of one closed the connection of the " +
			"other.",
		Fix: "Count the users of a shared connection and close it with the last one, or give each session a connection of its own. " +
			"Close the connection object itself, never by the server's name: the name may already stand for the next server. " +
			"A limit on the number of servers may end idle ones or refuse new sessions, but end none in use.",
		Reports:  []string{"R039", "R107", "R108"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} cut off {cause}"}},
	},
	{
		ID: "missing", Law: "L3", Class: "M", Title: "a session is open, but its server is gone",
		Headline: "{host} lost {n server} of {an open session|open sessions}",
		Signature: "at a checkpoint the newest server of an open session is dead, though no fault had ended it; an older one that lives " +
			"does not make up for it",
		Why: "The host ended the wrong one of two servers (the new one instead of the old one), or ended a server while its session " +
			"was being set up, and reports the session as open.",
		Fix: "When a connection is replaced, end the old one through its own handle. Do not look it up by name, by command line, or " +
			"in the current table: that is the new one. After a teardown, check that the servers of open sessions are alive.",
		Reports:  []string{"R003", "R039", "R107"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} missing at checkpoint {checkpoint} though its session is open"}},
	},
	{
		ID: "bystander", Law: "L3", Class: "M", Title: "a process that does not belong to the host was ended",
		Headline: "{host} killed {n process} that {does|do} not belong to it",
		Signature: "leakbench's own process in the host's process group, which no server and no launcher knows, was ended by a signal " +
			"before leakbench swept it",
		Why: "The host signalled its own process group (kill(0, ...), or kill(-pgid, ...) with its own or an inherited group), or " +
			"chose its targets by name. Everything that the same shell, service or pipeline started beside it goes down with its " +
			"servers.",
		Fix: "Start each server in a process group (or session) of its own, and signal that group alone. Before you signal a group, " +
			"check that it is not your own: getpgid(child) != getpgrp(). " +
			onlyYourOwn,
		Reports: []string{"R010"},
		Findings: []Wording{{
			Title:     "a bystander in the host's process group was ended {cause}",
			Expected:  "a process that the host did not start left alone",
			Found:     "it was ended {cause}",
			Value:     "pid {pid} in {group}: {how} at {at}",
			Narrative: "leakbench had put an idle process (pid {pid}) into {group} that does not belong to the host. It {how} at {at}, {cause}.",
		}},
	},
	{
		ID: "twin", Law: "L3", Class: "M", Title: "a process that only looks like a server of the host was ended",
		Headline: "{host} killed {n process} that only {looks|look} like {a server|servers} of its own",
		Signature: "leakbench's own process with exactly the command line of a server, in a session of its own and no child of the " +
			"host's, was ended by a signal before leakbench swept it",
		Why: "The host chose its targets by name or command line (pkill -f, a search of /proc or of the output of ps). The same " +
			"server, started with the same configuration by another client, a second window, a cron job or another user, looks " +
			"exactly alike.",
		Fix: "Never choose by command line which process to signal. " +
			onlyYourOwn +
			" To clean up after an earlier run of the host, keep PID and start time of each launch in a file, or mark each launch " +
			"in its environment, not in its command.",
		Reports: []string{"R055", "R107", "R122"},
		Findings: []Wording{{
			Title:    "a process with the command line of {label} that does not belong to the host was ended {cause}",
			Expected: "a process that the host did not start left alone, whatever it looks like",
			Found:    "it was ended {cause}",
			Value:    "pid {pid} with the command line of {server}: {how} at {at}",
			Narrative: "leakbench had started a process (pid {pid}) with exactly the command line of a server of {server}, " +
				"in a session of its own and not as a child of the host. It {how} at {at}, {cause}. " +
				"It shares only its command line and its name with what the host launched.",
		}},
	},
	{
		ID: "recycled", Law: "L3", Class: "M", Title: "a process that reused a dead server's PID was killed",
		Headline: "{host} killed {n process} that had reused the PID of {a dead server|dead servers}",
		Signature: "leakbench's own process, which the system had given the PID and group number of a reaped server, was ended by a " +
			"signal before leakbench swept it",
		Why: "The host keeps a PID, or a process group's number, for longer than the process lives: in a set of known PIDs, in a " +
			"table that a sweep goes through, in a file. The system reuses these numbers, and kill() does not check whose they are " +
			"now. A gateway that runs for days gets there; so does a container, where PIDs are few.",
		Fix: "Forget the PID once you have waited for the process. " +
			onlyYourOwn +
			" The number of a process group is free once its leader and all members are gone, so signal the group before you wait " +
			"for its leader.",
		Reports: []string{"R011", "R125"},
		Findings: []Wording{{
			Title:    "a process that reused the PID of a dead server of {label} was killed {cause}",
			Expected: "no signal to a PID after its process was reaped",
			Found:    "the process that had it by then was killed {cause}",
			Value:    "pid {pid}, the former PID of {server}: {how} at {at}",
			Narrative: "{server} had died and was reaped, and the system had given its PID and its group number to a process that does not belong " +
				"to the host (pid {pid} outside). It {how} at {at}, {cause}: the host signalled the number, not the process.",
		}},
	},
}
