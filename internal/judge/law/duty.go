package law

import "github.com/leakbench/leakbench/internal/record"

// Duty says of a finding whose duty it is to end what was left, by what the host says that it is.
type Duty struct{ Why, Fix string }

// DutyOf is empty where the host has not said what it is, or where nothing was left.
func DutyOf(host record.Duty, law string, cause record.Cause) Duty {
	if of := Of(law); of.Shows != Left {
		return Duty{}
	}
	by := duties[host]
	if own, ok := by[cause]; ok {
		return own
	}
	return by[""]
}

// Untold is the kind of a host of which nobody tells which sessions it has. No host calls itself that.
const Untold record.Duty = "untold"

var untold = Duty{
	"Nobody tells leakbench which sessions this host has, so a second server with one label is taken for one too many.",
	"If each of them is for a session of its own, declare in the host file how many it launches (launches: 2).",
}

var closedInOrder = Duty{
	"The application closed the client in order: ending the server is the library's duty.",
	"If the library keeps servers on purpose, look for its option (keep-alive, a pool), or declare how many it keeps (resident). " +
		"If not, only the library can mend it: an application has no handle on the process.",
}

// duties are by kind of host and by how its session or it ended; "" is any other way.
var duties = map[record.Duty]map[record.Cause]Duty{
	Untold: {record.CauseReconnect: untold, record.CauseSideBySide: untold},
	record.DutyLibrary: {
		"": {"The host is a library: who drops a connection has to close it, and what a close leaves is the library's duty.", ""},

		record.CauseSessionClosed: closedInOrder,
		record.CauseCloseFailed:   closedInOrder,
		record.CauseHostAsked:     closedInOrder,
		record.CauseSessionForgotten: {
			"The application dropped the client without Close; the library has no finalizer that ended its server.",
			"In the application: call Close on every path (defer, with, using, finally). In the library: a finalizer or a cleanup " +
				"(runtime.AddCleanup, weakref.finalize, FinalizationRegistry) that ends the process of a client which nobody holds.",
		},
		record.CauseHostKilled: {
			"The process that embeds the library was killed, so that none of its code could run: " +
				"whoever embeds it, or the operating system, has to end what is left.",
			"The library can offer it: PR_SET_PDEATHSIG on Linux, a Job Object on Windows. " +
				"The application can run under a supervisor that ends the whole cgroup.",
		},
	},
	record.DutyApplication: {
		"": {
			"The host is an application: that its servers end is its own duty, whichever library starts them.",
			"If the application does close the client, and the server stays, it is the library's duty: " +
				"run the library alone (leakbench list hosts) to find out.",
		},
	},
	record.DutyGateway: {
		"": {
			"The host is a gateway: its clients have sessions and no handle on a server, so that ending it is the gateway's duty alone.", "",
		},
	},
}
