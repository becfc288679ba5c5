package law

import "github.com/leakbench/leakbench/internal/record"

var laws = []Law{
	{
		ID: "L1", Name: "flat",
		Says: "A server whose session has ended is gone within the settle time, while the host lives on, and with it its launcher and its helpers.",
		Why: "This is the commonest leak in the field, and the quietest. The host has dropped its client and nobody closes the server's stdin or signals it: the server waits in read(0) for a request that never comes. " +
			"Its parent lives and its pipe is open, so it looks healthy to every scan for orphans and to every watchdog inside the server. The number grows with each reconnect, tick and reload until the memory is gone.",
		Kinds:    []string{"abandoned", "superseded", "init-stranded", "duplicate", "ghost", "process-growth", "late", "not-escalated", "pipe-blocked", "eof-withheld", "stopped", "shielded", "escaped", "launcher", "helper"},
		Severity: record.SeverityError, Unit: "leaked", Shows: Left,
		Expected: "{wanted} of {label} alive at checkpoint {checkpoint}, within {settle}",
	},
	{
		ID: "L2", Name: "nothing left",
		Says: "After the host has ended, by any means, no server and no helper of it survives the settle time.",
		Why: "When a host ends, the end of stdin is the only word that is sure to reach its servers. One that ignores it, that hides behind a launcher, or that left the tree stays until somebody finds it by hand. " +
			"Some spin at full load, some keep a port or a lock that the next start needs.",
		Kinds:    []string{"deaf", "orphan", "spinner", "shielded", "escaped", "helper", "watchdog-blind", "not-escalated", "pipe-blocked", "eof-withheld", "stopped"},
		Severity: record.SeverityError, Unit: "outlived", Shows: Left,
		Expected: "no process left {settle} after the host's end",
		Found:    "{n process} left",
	},
	{
		ID: "L3", Name: "no collateral",
		Says: "A server whose session is live is never signalled, killed or cut off, whatever else the host cleans up.",
		Why: "Most over-kills were made by leak fixes: a sweep over every pid ever learned, a process group shared with others, a pid that was used again. Counting servers can't see it: " +
			"kill the new one, keep the old one, and the count is right. So the servers of live sessions are followed one by one.",
		Kinds:    []string{"killed", "terminated", "cut-off", "missing", "bystander", "twin", "recycled"},
		Severity: record.SeverityError, Unit: "collateral", Shows: Harmed,
		Expected: "the server of each live session of {label} left alone",
		Found:    "{n server} of live sessions harmed",
	},
	{
		ID: "L4", Name: "reaped",
		Says: "No dead server stays a zombie longer than the settle time.",
		Why: "A zombie costs a pid, and enough of them make fork fail. Worse, kill(pid, 0) succeeds on one: a host that polls that way waits for the dead, signals them, and takes them for leaks. " +
			"Where the host is PID 1 of a container, nobody else will ever collect them.",
		Kinds:    []string{"zombie", "late-reaped"},
		Severity: record.SeverityError, Unit: "zombies", Shows: Unreaped,
		Expected: "no zombie at checkpoint {checkpoint}, within {settle}",
		Found:    "{n zombie}",
	},
	{
		ID: "L5", Name: "handles flat",
		Says:     "The host's descriptors (pipes, sockets, pidfds) return to where they were.",
		Why:      "A client that is dropped without being closed keeps its pipe ends. The processes may be gone and the descriptors still grow, until opening anything fails with EMFILE.",
		Kinds:    []string{"fd-leak"},
		Severity: record.SeverityWarning, Unit: "fd-growth",
		Expected: "the same number of open descriptors at the end of each cycle",
		Found:    "{value}",
	},
	{
		ID: "L6", Name: "memory flat",
		Says:     "Neither the host nor an idle server grows per cycle beyond the limit.",
		Why:      "The number of processes can be flat while memory climbs: in the buffers of the host, or in a server that is never recycled.",
		Kinds:    []string{"host-growth", "server-growth"},
		Severity: record.SeverityWarning, Unit: "memory-growth",
		Expected: "no more than {limit} of growth per cycle",
		Found:    "{value}",
	},
	{
		ID: "L7", Name: "bounded spawning",
		Says: "Launches per session and per minute stay under the scenario's limits.",
		Why: "A host that reconnects without a pause, or that counts no failure as one, launches thousands of servers in a night. Each of them may even be ended in the end: " +
			"the machine is busy all the same, and a server that takes a lock or a licence never gets to hold it.",
		Kinds:    []string{"respawn"},
		Severity: record.SeverityError, Unit: "overspawned",
		Found: "{value}",
	},
	{
		ID: "L8", Name: "bounded shutdown",
		Says: "Closing a session and stopping the host end in time, also with a hung call, a full pipe or a deaf server.",
		Why: "A close that waits for a server to be reasonable waits for ever. What hangs on it hangs too: the reload, the restart, the service manager, which then kills the host, " +
			"and with it the only program that knew which servers to end.",
		Kinds:    []string{"slow-close", "hung-close", "hung-call", "hung-command", "slow-stop", "hung-stop"},
		Severity: record.SeverityError, Unit: "slow-shutdown",
		Expected: "within {limit}",
		Found:    "{value}",
	},
	{
		ID: "L9", Name: "graceful first",
		Says:     "A server is ended in order: stdin closed, time, SIGTERM, time, SIGKILL. A well-behaved one gets to finish its cleanup.",
		Why:      "The specification calls the end of stdin the only portable request to end. A server that is killed first leaves its locks, its browser and its containers behind.",
		Kinds:    []string{"signal-first", "killed-unasked", "cleanup-cut-short"},
		Severity: record.SeverityWarning, Unit: "ungraceful",
		Expected: "the end of stdin, then time, then SIGTERM, then time, and SIGKILL last",
		Found:    "{n server} ended out of order",
	},
	{
		ID: "L10", Name: "recovers",
		Says: "After the faults end, a new session can be opened and answers.",
		Why: "A cleanup can be so thorough that nothing works afterwards: the entry is marked as dead and never retried, the lock is held by the process that was left, the descriptors have run out. " +
			"The count is flat, the health check is green, and no tool answers.",
		Kinds:    []string{"no-recovery", "resource-held", "host-crashed"},
		Severity: record.SeverityError, Unit: "not-recovered",
		Expected: "a session opened after the last fault opens and answers",
		Found:    "{value}",
	},
}
