package catalogue

import "slices"

// WindowsHosts make the mistakes that only Windows lets a host make: exact, with something wrong about its Job Objects, or about what its
// servers inherit. They are refused elsewhere. Each of Shows is a law and a kind that are found in a scenario; together they are all that
// is found there.
var WindowsHosts = []Host{
	onWindows(JobsLate, "job-late",
		"exact, but a server is assigned to its job once it has answered initialize: what it started before is not in there "+
			"(mcpproxy-go#1234)", "storm",
		outside...),
	onWindows(JobsLeak, "job-breakaway",
		"exact, but its jobs let go of what a server starts (JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK, which libuv sets)", "storm",
		outside...),
	onWindows(JobOfSession, "job-of-session",
		"exact, but a server that sessions share is in the job of the session that came first, and ends with it "+
			"(stealth-chrome-devtools#99)", "storm",
		Finding{"sharing", "L3", "killed"}),
	onWindows(HandlesInherited, "handles-inherited",
		"exact, but each server inherits the write ends of the others' stdins, as with bInheritHandles and no list "+
			"of handles, and a close is the end of stdin alone (llama.cpp#26062)", "crash",
		Finding{"reload", "L1", "eof-withheld"}),
}

// outside is what is found where the children of servers and launchers are in no job. The shell is a launcher's child, too.
var outside = []Finding{
	{"wrapper", "L1", "not-escalated"},
	{"wrapper", "L1", "shielded"},
	{"wrapper", "L2", "deaf"},
	{"wrapper", "L2", "helper"},
	{"wrapper", "L2", "shielded"},
	{"helpers", "L1", "helper"},
	{"helpers", "L2", "helper"},
}

func onWindows(flaw Flaw, name, about, clean string, shows ...Finding) Host {
	h := mutant(flaw, name, about, clean, shows...)
	h.Profile.Ladder = jobLadder
	return h
}

const jobLadder = "stdin close, 300 ms, end of the job, wait"

// ForWindows says that a host can be played on Windows alone.
func ForWindows(name string) bool {
	return slices.ContainsFunc(WindowsHosts, func(h Host) bool { return h.Name == name })
}
