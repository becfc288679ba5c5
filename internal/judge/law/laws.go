package law

import "github.com/leakbench/leakbench/internal/record"

var laws = []Law{
	{
		ID: "L1", Name: "flat",
		Says: "When a session ends, its server, its launcher and its helpers are gone within the settle time, while the host lives on.",
		Why: "This is the most common leak in the field, and the quietest. The host drops its client, but nobody closes the " +
			"server's stdin or signals the server. The server blocks in read(0), waiting for a request that never comes. Its " +
			"parent is alive and its pipe is open, so it looks healthy to every orphan scan and to every watchdog inside the " +
			"server. The number grows with each reconnect, tick and reload until memory runs out.",
		Kinds: []string{
			"abandoned", "superseded", "init-stranded", "duplicate", "ghost", "process-growth", "late", "not-escalated",
			"pipe-blocked", "eof-withheld", "stopped", "shielded", "escaped", "launcher", "helper",
		},
		Severity: record.SeverityError, Unit: "leaked", Shows: Left,
		Expected: "{wanted} of {label} alive at checkpoint {checkpoint}, within {settle}",
	},
	{
		ID: "L2", Name: "nothing left",
		Says: "After the host has ended, for whatever reason, no server and no helper survives the settle time.",
		Why: "When a host ends, stdin EOF is the only message that is sure to reach its servers. A server that ignores EOF, hides " +
			"behind a launcher, or has left the process tree stays until somebody finds it by hand. Some use a whole CPU. Some " +
			"keep a port or a lock that the next start needs.",
		Kinds: []string{
			"deaf", "orphan", "spinner", "shielded", "escaped", "helper", "watchdog-blind", "not-escalated",
			"pipe-blocked", "eof-withheld", "stopped",
		},
		Severity: record.SeverityError, Unit: "outlived", Shows: Left,
		Expected: "no process left {settle} after the host ended",
		Found:    "{n process} left",
	},
	{
		ID: "L3", Name: "no collateral",
		Says: "A server whose session is live is never signalled, killed or cut off, whatever else the host cleans up.",
		Why: "Most of these kills were introduced by leak fixes: a sweep over every PID ever seen, a shared process group, a reused " +
			"PID. A count can't show it: kill the new server, keep the old one, and the count is right. leakbench therefore " +
			"follows the server of each live session.",
		Kinds:    []string{"killed", "terminated", "cut-off", "missing", "bystander", "twin", "recycled"},
		Severity: record.SeverityError, Unit: "collateral", Shows: Harmed,
		Expected: "the server of each live session of {label} left alone",
		Found:    "{n server} of live sessions harmed",
	},
	{
		ID: "L4", Name: "reaped",
		Says: "No dead server stays a zombie longer than the settle time.",
		Why: "A zombie occupies a PID, and enough of them make fork fail. Worse, kill(pid, 0) succeeds on a zombie. A host that " +
			"polls this way waits for dead servers, signals them, and reports them as leaks. Where the host is PID 1 of a " +
			"container, no other process will ever reap them.",
		Kinds:    []string{"zombie", "late-reaped"},
		Severity: record.SeverityError, Unit: "zombies", Shows: Unreaped,
		Expected: "no zombie at checkpoint {checkpoint}, within {settle}",
		Found:    "{n zombie}",
	},
	{
		ID: "L5", Name: "handles flat",
		Says: "The number of the host's open descriptors (pipes, sockets, pidfds) returns to what it was.",
		Why: "A client that is dropped without being closed keeps its pipe ends open. The processes may be gone while the " +
			"descriptors still grow, until every open fails with EMFILE.",
		Kinds:    []string{"fd-leak"},
		Severity: record.SeverityWarning, Unit: "fd-growth",
		Expected: "the same number of open descriptors at the end of each cycle",
		Found:    "{value}",
	},
	{
		ID: "L6", Name: "memory flat",
		Says:     "Neither the host nor an idle server grows by more than the limit per cycle.",
		Why:      "The number of processes can stay flat while memory grows: in the host's buffers, or in a server that is never replaced.",
		Kinds:    []string{"host-growth", "server-growth"},
		Severity: record.SeverityWarning, Unit: "memory-growth",
		Expected: "at most {limit} growth per cycle",
		Found:    "{value}",
	},
	{
		ID: "L7", Name: "bounded spawning",
		Says: "Launches per session and per minute stay within the scenario's limits.",
		Why: "A host that reconnects without a pause, or that never counts a failure, launches thousands of servers in a night. " +
			"Even if each of them is ended, the machine stays busy. A server that needs a lock or a licence never keeps it.",
		Kinds:    []string{"respawn"},
		Severity: record.SeverityError, Unit: "overspawned",
		Found: "{value}",
	},
	{
		ID: "L8", Name: "bounded shutdown",
		Says: "Closing a session and stopping the host finish in time, even with a hung call, a full pipe or a deaf server.",
		Why: "A close that waits for a misbehaving server can wait forever. Everything that waits for that close hangs too: the " +
			"reload, the restart, the service manager. The service manager then kills the host, the only program that knew which " +
			"servers to end.",
		Kinds:    []string{"slow-close", "hung-close", "hung-call", "hung-command", "slow-stop", "hung-stop"},
		Severity: record.SeverityError, Unit: "slow-shutdown",
		Expected: "within {limit}",
		Found:    "{value}",
	},
	{
		ID: "L9", Name: "graceful first",
		Says: "A server is ended in this order: close stdin, wait, SIGTERM, wait, SIGKILL. A well-behaved server can finish its cleanup.",
		Why: "The specification makes closing stdin the only portable way to ask a server to exit. A server that is killed first " +
			"leaves its locks, browsers and containers behind.",
		Kinds:    []string{"signal-first", "killed-unasked", "cleanup-cut-short"},
		Severity: record.SeverityWarning, Unit: "ungraceful",
		Expected: "{ladder}",
		Found:    "{n server} ended out of order",
	},
	{
		ID: "L10", Name: "recovers",
		Says: "After the faults end, a new session can be opened and answers calls.",
		Why: "A cleanup can be so thorough that nothing works afterwards: the entry is marked dead and never retried, a leftover " +
			"process holds the lock, or the descriptors are used up. The count is flat, the health check is green, and no tool " +
			"answers.",
		Kinds:    []string{"no-recovery", "resource-held", "host-crashed"},
		Severity: record.SeverityError, Unit: "not-recovered",
		Expected: "a session opened after the last fault opens and answers",
		Found:    "{value}",
	},
	{
		ID: "L11", Name: "shared",
		Says: "A conversation is not the lifetime of a server: several sessions of one server entry share a process, " +
			"and it outlives each of them.",
		Why: "Since 2026-07-28 the specification says that clients SHOULD NOT use a task, a thread or a conversation as the lifetime " +
			"boundary for the stdio process. One process per conversation multiplies memory and start-up time by the number of open " +
			"conversations. Each end of a conversation can also leave a process behind: most of the large counts in field reports " +
			"grew that way. It is only a SHOULD: a process for each session is common, and right for a server that keeps state in " +
			"its process. So this law warns, and no run fails because of it.",
		Kinds:    []string{"per-conversation"},
		Severity: record.SeverityWarning, Unit: "unshared",
		Expected: "one process serves the sessions of {label}, and outlives each of them",
		Found:    "{value}",
	},
}
