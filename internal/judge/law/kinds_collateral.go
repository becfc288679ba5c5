package law

const onlyYourOwn = "Signal only what you launched, and only through the handle that its launch returned (a pidfd, a process object, a Job Object), not through a list of pids. Where it has to be a pid: keep its start time, and compare it right before each signal. " +
	"End the one server whose session has ended; leave what belongs to others to its owners."

var kindsCollateral = []Kind{
	{
		ID: "killed", Law: "L3", Class: "M", Title: "the server of a live session was killed",
		Signature: "a server that nothing was wrong with died without the end of stdin and without a signal it could catch, while its session was live",
		Why:       "A cleanup took more than was meant: it went by a list of all known pids, by the command line, by a group that is shared, or by a number that belongs to somebody else now.",
		Fix:       onlyYourOwn, Reports: []string{"R003", "R011", "R039", "R055", "R107", "R119", "R122"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} killed {cause}"}},
	},
	{
		ID: "terminated", Law: "L3", Class: "M", Title: "the server of a live session was told to end by a signal",
		Signature: "a server that nothing was wrong with caught SIGTERM, SIGINT or SIGHUP while its session was live",
		Why:       "A cleanup took more than was meant: a sweep at the end of one session or job that signals every pid it knows, or a signal to a process group in which others live too.",
		Fix:       onlyYourOwn, Reports: []string{"R002", "R003", "R010", "R012", "R055", "R122"},
		Findings: []Wording{{Title: "{n server} of {label} {was|were} told to end by a signal {cause}"}},
	},
	{
		ID: "cut-off", Law: "L3", Class: "M", Title: "the stdin of a live session's server was closed",
		Signature: "a server that nothing was wrong with read the end of stdin while its session was live",
		Why:       "Two sessions share a client, or an owner of connections was replaced, and the end of one took the connection of the other with it.",
		Fix:       "Count the users of a shared connection, and close it with the last one; or give each session a connection of its own. Close by the object of that very connection, never by the server's name: by then the name may stand for its successor.",
		Reports:   []string{"R039", "R107", "R108"},
		Findings:  []Wording{{Title: "{n server} of {label} {was|were} cut off {cause}"}},
	},
	{
		ID: "missing", Law: "L3", Class: "M", Title: "a session is open, and its server is gone",
		Signature: "at a checkpoint the newest server of an open session is dead, though no fault had ended it; an older one that lives does not make up for it",
		Why:       "The host ended the wrong one of two (the new instead of the old), or ended a server while its session was being set up, and calls the session open.",
		Fix:       "When a connection is replaced, end the old one by its own handle. Do not look for it by name, by command line, or by what is in the table now: that is the new one. After a teardown, check that what should live does.",
		Reports:   []string{"R003", "R039", "R107"},
		Findings:  []Wording{{Title: "{n server} of {label} {was|were} missing at checkpoint {checkpoint} though its session is open"}},
	},
	{
		ID: "bystander", Law: "L3", Class: "M", Title: "a process that is none of the host's was ended",
		Signature: "the bench's own process in the host's process group, which no server and no launcher knows, was ended by a signal before the bench swept it",
		Why: "The host signalled its own process group (kill(0, ...), kill(-pgid, ...) with its own or an inherited group), or chose its victims by name. Whatever was started beside it by the same shell, " +
			"service or pipeline goes down with its servers.",
		Fix:     "Start each server in a process group (or session) of its own, and signal that group alone. Before a signal to a group, check that it is not your own: getpgid(child) != getpgrp(). " + onlyYourOwn,
		Reports: []string{"R010"},
		Findings: []Wording{{
			Title:    "a bystander in the host's process group was ended {cause}",
			Expected: "a process that the host did not start left alone",
			Found:    "it was ended {cause}",
			Value:    "pid {pid} in {group}: {how} at {at}",
			Story:    "The bench had put a process (pid {pid}) into {group} that does nothing and is none of the host's. It {how} at {at}, {cause}.",
		}},
	},
	{
		ID: "twin", Law: "L3", Class: "M", Title: "a process that only looks like a server of the host's was ended",
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
			Story: "The bench had started a process (pid {pid}) with the very command line of a server of {server}, in a session of its own and no child of the host's. " +
				"It {how} at {at}, {cause}: nothing but its command line, or its name, has it in common with what the host launched.",
		}},
	},
	{
		ID: "recycled", Law: "L3", Class: "M", Title: "a process that had got a dead server's pid was ended",
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
			Story: "{server} had died and been waited for, and the system had given its pid, and the number of its group, to a process that is none of the host's (pid {pid} out here). " +
				"It {how} at {at}, {cause}: somebody signalled the number, and not the process.",
		}},
	},
}
