package scenarios

// texts are what an editor shows of a place: the path of its keys, where "[]"
// is an item of a list and "*" any key; the last part alone where nothing is
// said of the whole path. A place without a text is described in the words
// that the reader asks for it.
var texts = map[string]string{
	"": "Which fake servers there are and what they do wrong, what the host is asked to do, and when the state must be right.",

	"name":    "also the file's name, without .yaml",
	"title":   "one line that says what happens",
	"about":   "a paragraph: what it reproduces, and what a correct host does",
	"reports": "what it reproduces: R001 is a field report, F3 a failure mode",

	"servers":            "the fake servers by their labels; a label alone is a server that does nothing wrong",
	"servers.*":          "a fake server",
	"servers.*.era":      "which protocol it speaks: legacy (the default) has initialize and refuses server/discover, legacy-mute does not answer server/discover, modern has no initialize, dual has both",
	"servers.*.optional": "a run means something even if the host never launches it",
	"servers.*.faults":   "what it does wrong, and when",

	"limits":                    "the numbers that the laws are judged by",
	"limits.settle":             "how long after a checkpoint begins a process that should be gone may still be there",
	"limits.confirm":            "how long it is watched after that: one that goes in this time is late, one that does not is leaked",
	"limits.quiet":              "how long the right state must hold before a checkpoint ends early; shorter than settle",
	"limits.close":              "how long an orderly close may take",
	"limits.stop":               "how long the host's orderly end may take; not shorter than close",
	"limits.spawns_per_session": "how many launches one session may cost, reconnects included; without it that is not judged",
	"limits.spawns_per_minute":  "how many launches of one label a minute may see; without it that is not judged",
	"limits.nofile":             "how many files the host may have open; where nothing is said: as many as the bench",
	"limits.severity":           "how a breach of a law counts; error where nothing is said",

	"steps": "what happens, one after the other",

	"fault.on":     "the moment",
	"fault.do":     "the deed",
	"fault.launch": "only this launch of the label: 1 is the first of a run",
	"fault.every":  "each launch of the label that this divides; without launch and every: all",
	"fault.tool":   "only calls of this tool",
	"order":        "a deed, or a mapping of one with its values",
	"order.do":     "the deed",
	"probability":  "only some of these launches, each with this chance; the seed of the run says which",
	"after":        "lets the moment pass so many times first, in each launch anew",
	"for":          "how long",
	"each":         "the pause between two notifications, or between two steps of growth",
	"mib":          "to how many MiB of resident memory; long-line, flood-stderr: how many MiB",
	"step":         "by how many MiB at a time; 1 where nothing is said",
	"code":         "the exit status",

	"open":        "Connect. On a session that is open: connect anew; the old connection is superseded and its server must go.",
	"open.server": "its label; needed the first time, a session keeps its server",
	"open.cancel": "cancel it while a fault of the server keeps the handshake waiting",
	"call":        "Call a tool of the session's server.",
	"call.cancel": "cancel the call once the server has received it",
	"call.twice":  "cancel it two times",
	"close":       "End the session in an orderly way.",
	"forget":      "The session is over and nobody closes it: the host lets go of the client, and its server must go all the same.",
	"await":       "Inside parallel or tick: wait until what another lane asks for is under way.",
	"await.for":   "call: a call is in the session's server; connect: a fault of the server keeps the handshake waiting",
	"reload":      "The configuration of the label changed: all its open sessions move to new servers.",
	"tick":        "Run jobs in parallel, each in a session of its own, and other steps beside them.",
	"jobs":        "groups of jobs, which run side by side",
	"during":      "steps that are played while the jobs run",
	"break":       "The newest working server of the session or the label does something wrong, now.",
	"break.with":  "what it does",
	"checkpoint":  "The state must be right: the newest server of each open session lives, and nothing else.",
	"repeat":      "Play the steps so many times.",
	"parallel":    "Lanes of steps, side by side.",
	"stop":        "The host's orderly end: the driver's stop, or SIGTERM for a command.",
	"term":        "SIGTERM to the host.",
	"kill":        "SIGKILL to the host.",
	"live":        "of these labels: how many servers there must be instead",
	"tool":        "echo where nothing is said",
	"args":        "the arguments of the call; sleep needs {ms: N}",
	"pad":         "the call is padded with so many KiB",
	"timeout":     "the host's own limit: it gives up after this",
	"expect":      "ok where nothing is said; of a call that is cut off: fail",
	"count":       "how many of this kind; 1 where nothing is said",
	"server":      "the label of a server",
	"cancel":      "the bench cancels the job once its call is in the server",
	"probe":       "the host only looks at the server, in the way that it has for it: a health check, a test of the connection; where it has none, an ordinary job",

	"host":       "where the host lives; where nothing is said: right below the bench",
	"host.place": "pid-1: process 1 of a pid namespace of its own; init: below an init in one; subreaper: below another subreaper. Where that can't be had, the run is inconclusive and says why",
	"recycle":    "The pid of the session's server, which is gone, is given to a process that is none of the host's and leads a group of that number. Needs place: init.",

	"restart":       "The host ends, and a new process of it starts on whatever the first one left. Its sessions have ended with it; they can be opened again.",
	"restart.after": "how it ends: term (SIGTERM, the default), stop (the driver's stop, or SIGTERM for a command) or kill (SIGKILL)",
	"restart.grace": "after SIGTERM: how long until SIGKILL; limits.stop where nothing is said",
}

func textOf(path, what string) string {
	if half := len(path) / 2; len(path)%2 == 1 && path[half] == '.' && path[:half] == path[half+1:] {
		return what // the value of a step's first key
	}
	if text, ok := texts[path]; ok && path != "" {
		return text
	}
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '.' {
			if text, ok := texts[path[i+1:]]; ok {
				return text
			}
			break
		}
	}
	return what
}
