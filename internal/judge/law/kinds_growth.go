package law

var kindsGrowth = []Kind{
	{
		ID: "process-growth", Law: "L1", Class: "A", Title: "there are more and more processes below the host",
		Headline:  "{host} keeps more processes with each repetition",
		Signature: "of a soak: with every session closed at the end of each repetition, the number of processes below the host grows an hour with 95 % confidence, over all repetitions and over their second half, by two or more; none of them is a server that another kind names",
		Why: "The host starts something for a session, or now and then, and nobody ends it: a worker, a watcher, a helper that was to end by itself. One at a time is nothing, and after a day it is the machine. " +
			"No checkpoint can tell one of them from what the host keeps on purpose; that they become more and more does.",
		Fix: "Find out what the processes are (the report lists those of the last look), and give each of them an owner that ends it, and waits for it, with the session or the job that it was started for. " +
			"What is kept on purpose needs a bound.",
		Reports:  []string{"R001"},
		Findings: []Wording{{Title: "there are more and more processes below the host", Expected: "as many processes below the host after each repetition", Found: "{value}"}},
	},
	{
		ID: "fd-leak", Law: "L5", Class: "I", Title: "the host's open descriptors grow with each cycle",
		Headline:  "{host} keeps more descriptors with each cycle",
		Signature: "with the same processes below the host at the end of each repetition, the least number of descriptors that it ever returned to rose three times or more",
		Why: "Each connection costs the host the ends of two or three pipes, or of sockets, and on Linux a pidfd. One that is dropped without being closed keeps them: " +
			"the time-out of a connect that only frees its caller, an error path that returns before the close, a process object that nobody waits for. It ends with EMFILE, when nothing can be opened any more.",
		Fix: "Close what a launch has opened on every path on which the launch can end: both ends of each pipe when the launch fails, the parent's ends when the connection goes, the process handle after the wait. " +
			"Give each connection one owner with one close that does all of it, and count the descriptors in a test.",
		Reports:  []string{"R004", "R035"},
		Findings: []Wording{{Title: "the host's open descriptors grow with each cycle"}},
	},
	{
		ID: "host-growth", Law: "L6", Class: "O", Title: "the host's memory grows with each cycle",
		Headline:  "{host} needs more memory with each cycle",
		Signature: "the median slope of the host's resident memory over at least 7 quiet cycles, without the first two and without its greatest step, is above the limit",
		Why:       "Something is kept per connection and not let go with it: the buffers of a line without end, the history of a session, the tools of each launch, an entry in a table, a task that waits for ever.",
		Fix:       "Bound what a server can make the host keep (the length of a line, the size of a queue, the stderr that is remembered), and drop what belongs to a connection together with it. A heap profile at two points a few cycles apart names it.",
		Reports:   []string{"R032"},
		Findings:  []Wording{{Title: "the host's memory grows with each cycle"}},
	},
	{
		ID: "server-growth", Law: "L6", Class: "O", Title: "a server that is kept grows with each cycle",
		Headline:  "a server behind {host} needs more memory with each cycle",
		Signature: "the median slope of a server's resident memory over at least 7 quiet cycles, without the first two and without its greatest step, is above the limit; it was the same process all the time",
		Why:       "Servers leak too, and one that is never replaced does so for as long as the host lives. The number of processes stays flat.",
		Fix:       "Give servers a limit on age, on idle time or on memory, and replace one that has passed it in between calls: start the new one, move the session, end the old one in order.",
		Reports:   []string{"R015"},
		Findings:  []Wording{{Title: "{n server} of {label} that {is|are} kept {grows|grow} with each cycle"}},
	},
}

const stdinFirst = "Close stdin first and wait for the exit, some seconds; then SIGTERM to the group, and wait; SIGKILL last. "

var kindsGraceful = []Kind{
	{
		ID: "signal-first", Law: "L9", Class: "F", Title: "a server was signalled before it could read the end of its stdin",
		Headline:  "{host} signalled {n server} before it closed stdin",
		Signature: "a server with which nothing was wrong caught SIGTERM, SIGINT or SIGHUP, and at that moment the other end of its stdin was open, or had been closed a moment before (a quarter of the least grace)",
		Why: "The host's cleanup goes by pid and not by connection. A signal ends a server wherever it is, in the middle of a write too, and behind a launcher it ends the launcher only; " +
			"the end of stdin is the one request to end that each server understands, through each launcher.",
		Fix: stdinFirst + "A sweep that finds what was left behind has to close the pipes it still holds as well.", Reports: []string{"R012", "R052", "R085"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} sent a signal before the end of stdin"}},
	},
	{
		ID: "killed-unasked", Law: "L9", Class: "F", Title: "a server was killed without having been asked to end",
		Headline:  "{host} killed {n server} without asking first",
		Signature: "a server with which nothing was wrong died without the end of stdin, without a signal it could catch and without a word, sooner after the host was asked to end it than the least grace allows",
		Why:       "SIGKILL (or the death of the thread that a parent death signal is tied to) is the first thing that happens. Locks, ports, containers and browsers of the server stay behind, because the code that gives them back never runs.",
		Fix:       stdinFirst + "Keep a parent death signal for the case that the host is killed: end the servers before the host, or the thread that launched them, ends by itself.", Reports: []string{"R050", "R086", "R120"},
		Findings: []Wording{
			{Title: "{n server} of {label} {was|were} killed without having been asked to end", Expected: "the end of stdin, then time, then SIGTERM, then time, and SIGKILL last; {grace} for the cleanup at the least"},
		},
	},
	{
		ID: "cleanup-cut-short", Law: "L9", Class: "F", Title: "a server was killed in the middle of its cleanup",
		Headline:  "{host} killed {n server} during cleanup",
		Signature: "a server with which nothing was wrong read the end of stdin or caught a signal, and died before it had finished its cleanup, sooner after the host was asked to end it than the least grace allows",
		Why:       "The rungs of the ladder follow each other without time in between: the pipe is closed and the kill comes with it, or a time limit over the whole shutdown leaves nothing for the servers.",
		Fix:       stdinFirst + "Wait for the exit, not for a fixed time, so that patience costs nothing with servers that end at once; and let all of them clean up side by side.", Reports: []string{"R050", "R086", "R120"},
		Findings: []Wording{
			{Title: "{n server} of {label} {was|were} killed in the middle of the cleanup", Expected: "the end of stdin, then time, then SIGTERM, then time, and SIGKILL last; {grace} for the cleanup at the least"},
		},
	},
}
