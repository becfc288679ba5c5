package law

import "github.com/leakbench/leakbench/internal/record"

var kindsGrowth = []Kind{
	{
		ID: "process-growth", Law: "L1", Class: "A", Title: "the number of processes below the host grows",
		Headline: "{host} keeps more processes with each repetition",
		Signature: "in a soak, with every session closed at the end of each repetition, the number of processes below the host grows by " +
			"two or more, with 95 % confidence. It grows over all repetitions and over their second half. None of the processes is " +
			"a server that another kind names",
		Why: "The host starts something for a session, or now and then, and nobody ends it: a worker, a watcher, or a helper that " +
			"should have exited by itself. One is harmless, but after a day they fill the machine. No checkpoint can tell one of them " +
			"from what the host keeps on purpose. The growth can.",
		Fix: "Find out what the processes are (the report lists those of the last look). Give each of them an owner that ends it, and " +
			"waits for it, together with its session or job. Limit what is kept on purpose.",
		Reports: []string{"R001"},
		Findings: []Wording{{
			Title:    "there are more and more processes below the host",
			Expected: "as many processes below the host after each repetition", Found: "{value}",
		}},
	},
	{
		ID: "fd-leak", Law: "L5", Class: "I", Title: "the host's open descriptors grow with each cycle",
		Headline: "{host} keeps more descriptors with each cycle",
		Signature: "with the same processes below the host at the end of each repetition, the lowest number of descriptors that it " +
			"returned to rose three times or more",
		Why: "Each connection costs the host two or three pipe ends, or sockets, and on Linux a pidfd. A connection that is dropped " +
			"without being closed keeps them: a connect timeout that only frees its caller, an error path that returns before the " +
			"close, a process object that nobody waits for. In the end nothing can be opened any more (EMFILE).",
		Fix: "Close what a launch has opened on every path on which the launch can end. That is both ends of each pipe when the " +
			"launch fails, the parent's ends when the connection goes, and the process handle after the wait. Give each connection " +
			"one owner with one close that does all of it. Count the descriptors in a test.",
		Reports: []string{"R004", "R035"},
		Findings: []Wording{
			{
				Cause: record.CauseWatched, Title: "the host holds more and more descriptors of processes that are gone",
				Expected: "the ends of a pipe are closed when the process at its other end is gone",
			},
			{Title: "the host's open descriptors grow with each cycle"},
		},
	},
	{
		ID: "host-growth", Law: "L6", Class: "O", Title: "the host's memory grows with each cycle",
		Headline: "{host} needs more memory with each cycle",
		Signature: "over at least 7 quiet cycles, without the first two and without its greatest step, the median slope of the host's " +
			"resident memory is above the limit",
		Why: "The host keeps something per connection. It can be the buffer of a line that never ends, the history of a session, the" +
			" tools of each launch, an entry in a table, or a task that waits forever.",
		Fix: "Limit what a server can make the host keep (line length, queue size, remembered stderr), and drop what belongs to a " +
			"connection together with it. Two heap profiles, a few cycles apart, show what it is.",
		Reports:  []string{"R032"},
		Findings: []Wording{{Title: "the host's memory grows with each cycle"}},
	},
	{
		ID: "server-growth", Law: "L6", Class: "O", Title: "a server that is kept grows with each cycle",
		Headline: "a server of {host} needs more memory with each cycle",
		Signature: "over at least 7 quiet cycles, without the first two and without its greatest step, the median slope of a server's " +
			"resident memory is above the limit. It was the same process all the time",
		Why: "Servers leak too, and one that is never replaced leaks as long as the host lives. The number of processes stays flat.",
		Fix: "Limit the age, the idle time or the memory of servers. Replace one that has passed its limit between two calls: start " +
			"the new one, move the session, then end the old one in order.",
		Reports:  []string{"R015"},
		Findings: []Wording{{Title: "{n server} of {label} that {is|are} kept {grows|grow} with each cycle"}},
	},
}

var kindsShared = []Kind{
	{
		ID: "per-conversation", Law: "L11", Class: "A", Title: "a server lived only as long as one conversation, or one request",
		Headline: "{host} gave {n conversation} a process of its own",
		Signature: "sessions that used one server entry at the same time had a process each, and one of these ended with its " +
			"session, or with its request, while the host lived",
		Why: "The host launches a server for each session (or task, thread, subagent, request) that uses its entry, and ends it " +
			"with that. A stdio process is no conversation: the server can't tell whose request it reads, and need not.",
		Fix: "Key the process by the server entry (command, arguments, environment, working directory), not by the conversation. " +
			"Connect it at the first use, let all sessions send their requests through it, and end it with the host, with its entry " +
			"in the configuration, or after a long idle time. Keep a process for each session only for servers of before 2026-07-28 " +
			"that hold state for one client, and say so in the configuration.",
		Reports: []string{"R026", "R037", "R038", "R070"},
		Findings: []Wording{
			{Cause: record.CausePerRequest, Title: "{n request} of {label} had a process of {its|their} own"},
			{Title: "{n session} of {label} had a process of {its|their} own, which ended with {it|them}"},
		},
	},
}

const stdinFirst = "Close stdin first and wait some seconds for the exit. Then send SIGTERM to the group and wait. Send SIGKILL last. "

var kindsGraceful = []Kind{
	{
		ID: "signal-first", Law: "L9", Class: "F", Title: "a server was signalled before it could read stdin EOF",
		Headline: "{host} signalled {n server} before stdin EOF",
		Signature: "a healthy server caught SIGTERM, SIGINT or SIGHUP while the other end of its stdin was open, or had been closed only " +
			"a moment before (a quarter of the least grace)",
		Why: "The host's cleanup works on PIDs and not on connections. A signal ends a server anywhere, even in the middle of a " +
			"write, and behind a launcher it ends only the launcher. stdin EOF is the one request that every server understands, " +
			"through every launcher.",
		Fix: stdinFirst + "A sweep over what was left behind must also close the pipes that it still holds. If the host does close stdin " +
			"first, another process has inherited the write end and keeps EOF away: make pipes close-on-exec.",
		Reports:  []string{"R012", "R052", "R085"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} signalled before stdin EOF"}},
	},
	{
		ID: "killed-unasked", Law: "L9", Class: "F", Title: "a server was killed without being asked to exit",
		Headline: "{host} killed {n server} without asking first",
		Signature: "a healthy server died without stdin EOF, without a signal it could catch and without a message, sooner after the host " +
			"was asked to end it than the least grace allows",
		Why: "SIGKILL comes first, or the death of the thread that a parent death signal is tied to. The server's locks, ports, " +
			"containers and browsers stay behind, because its cleanup never runs.",
		Fix: stdinFirst +
			"Keep a parent death signal for the case that the host is killed: end the servers before the host, or the thread that " +
			"launched them, exits by itself.", Reports: []string{"R050", "R086", "R120"},
		Findings: []Wording{
			{Title: "{n server} of {label} {was|were} killed without being asked to exit", Expected: "{ladder}; at least {grace} for the cleanup"},
		},
	},
	{
		ID: "cleanup-cut-short", Law: "L9", Class: "F", Title: "a server was killed during its cleanup",
		Headline: "{host} killed {n server} during cleanup",
		Signature: "a healthy server read stdin EOF or caught a signal, and died before it had finished its cleanup, sooner after the " +
			"host was asked to end it than the least grace allows",
		Why: "The steps follow each other without a pause: the kill comes together with the closed pipe, or a deadline for the " +
			"whole shutdown leaves no time for the servers.",
		Fix: stdinFirst +
			"Wait for the exit, not for a fixed time: servers that exit at once then cost nothing. Let all of them clean up in parallel.",
		Reports: []string{"R050", "R086", "R120"},
		Findings: []Wording{
			{Title: "{n server} of {label} {was|were} killed during cleanup", Expected: "{ladder}; at least {grace} for the cleanup"},
		},
	},
}
