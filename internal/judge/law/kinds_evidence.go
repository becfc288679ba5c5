package law

const fullLadder = "Close stdin, wait a bounded time, SIGTERM to the group, wait, SIGKILL to the group, and wait for the exit."

var kindsEvidence = []Kind{
	{
		ID: "not-escalated", Law: "L1", Also: []string{"L2"}, Class: "F", Title: "a server was told to end, did not, and was not killed",
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
		Signature: "alive at the end of the watch, in state T (stopped by a signal, or by job control) or t (traced)",
		Why:       "A stopped process handles nothing: the end of stdin stays unread, SIGTERM stays pending. It was stopped by SIGSTOP, or because it touched the terminal from the background (SIGTTIN, SIGTTOU): servers share the host's terminal unless they get a session or a group of their own.",
		Fix:       "Keep servers away from the terminal: stdin, stdout and stderr as pipes, and a session of their own (setsid) for what may open /dev/tty. Send SIGCONT after SIGTERM, so that a stopped server gets to handle it; SIGKILL ends it in any state.",
		Reports:   []string{"R041"},
		Findings: []Wording{
			{Law: "L1", Title: "{n server} of {label}, stopped by a signal, {is|are} still there ({cause})", Found: "{alive} alive, {seen} of them stopped"},
			{Law: "L2", Title: "{n server} of {label} outlived the host, stopped by a signal"},
		},
	},
	{
		ID: "watchdog-blind", Law: "L2", Class: "N", Title: "a server outlived the host though it watches its parent",
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
		Signature: "a launch found its lock or port taken, by an older launch for the same session, or for one that had ended",
		Why:       "The predecessor is still there: it was dropped and not ended, its end was not awaited before the next launch, or only its launcher was ended. Each retry meets the same lock.",
		Fix:       "End the predecessor before launching the successor, and wait for its exit: until then its lock, its port and its database are taken. After a failed connect, end what was launched at once and not in a later sweep. Signal the group, so that what holds the resource goes with its launcher.",
		Reports:   []string{"R005", "R006", "R016", "R018", "R029", "R077", "R086", "R120", "R121"},
		Findings: []Wording{
			{Title: "{n launch} of {label} could not start: an older one held what {it needs|they need}", Expected: "what a server needs is free again when the next one is launched"},
		},
	},
}
