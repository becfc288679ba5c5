package law

import "github.com/leakbench/leakbench/internal/record"

// serverLaws are what a correct server obeys: `leakbench server` judges them.
var serverLaws = []Law{
	{
		ID: "S1", Name: "answers",
		Says: "The server answers initialize, tools/list and ping in time, and does not exit while its stdin is open.",
		Why: "A server that starts and stays silent is worse than one that crashes: " +
			"the client waits for its whole timeout, tries again, and many clients leave the silent process behind. " +
			"A server that exits in the middle of a session is launched again by some clients and forgotten by others.",
		Kinds:    []string{"silent", "refused", "died"},
		Severity: record.SeverityError, Unit: "unanswered", Shows: Faulty,
		Expected: "each request is answered", Found: "{value}",
	},
	{
		ID: "S2", Name: "exits on stdin EOF",
		Says: "When its stdin is closed, the server exits within the grace time: idle, with a request unanswered, " +
			"before initialize, and after its launcher.",
		Why: "The specification (2026-07-28) makes closing stdin the only portable way to end a server. It is also the only sign that is left " +
			"when a client is killed. A server that ignores it becomes an orphan each time, and waits for a request that nobody can send.",
		Kinds:    []string{"eof-ignored", "eof-ignored-in-call", "eof-ignored-at-start", "eof-ignored-orphaned", "eof-spin", "eof-late"},
		Severity: record.SeverityError, Unit: "deaf", Shows: Left,
		Expected: "the server exits within {settle} of stdin EOF", Found: "{value}",
	},
	{
		ID: "S3", Name: "exits on SIGTERM",
		Says: "The server exits within the grace time of SIGTERM, also where a launcher stands in front of it.",
		Why: "Most clients send SIGTERM 2 s to 5 s after they have closed stdin, and SIGKILL as soon after that. " +
			"A server that ignores it loses its cleanup. Where the launcher alone takes the signal, the client believes that its server is gone.",
		Kinds:    []string{"term-ignored", "term-not-forwarded", "term-late"},
		Severity: record.SeverityError, Unit: "unkillable", Shows: Left,
		Expected: "the server exits within {settle} of SIGTERM", Found: "{value}",
	},
	{
		ID: "S4", Name: "exits when stdout breaks",
		Says: "When nobody can read its stdout any more (EPIPE), the server exits within the grace time.",
		Why: "A client that dies takes the read end of stdout with it. Nothing that the server writes from then on arrives anywhere. " +
			"A server that catches the error and goes on writes the same error again and again, and some use a whole processor for it.",
		Kinds:    []string{"epipe-ignored", "epipe-stuck", "epipe-spin", "epipe-late"},
		Severity: record.SeverityError, Unit: "broken-pipe", Shows: Left,
		Expected: "the server exits within {settle} of a broken stdout", Found: "{value}",
	},
	{
		ID: "S5", Name: "leaves nothing",
		Says: "Once the server has ended, nothing that it started is left, and while it runs it waits for each child that has ended.",
		Why: "A browser, a language server or a container that outlives its server belongs to nobody. The next server starts another one. " +
			"Clients end the process that they launched, and few of them look for more.",
		Kinds:    []string{"helper-left", "helper-escaped", "helper-late", "unreaped-child"},
		Severity: record.SeverityError, Unit: "left-behind", Shows: Left,
		Expected: "nothing is left {settle} after the server", Found: "{value}",
	},
	{
		ID: "S6", Name: "only protocol on stdout",
		Says: "Each line on stdout is a message of JSON-RPC 2.0.",
		Why: "Clients differ in what they do with any other line: some skip it, some log it, some drop the connection, " +
			"and one kept it in a buffer that grew to 10 GB.",
		Kinds:    []string{"stdout-noise"},
		Severity: record.SeverityError, Unit: "noise", Shows: Faulty,
		Expected: "only messages on stdout; logs go to stderr", Found: "{value}",
	},
	{
		ID: "S7", Name: "flat while idle",
		Says:     "While nothing is asked, memory, descriptors and processes of the server do not grow, and it uses no processor.",
		Why:      "A server is idle most of its life, and many live side by side. What grows without a request grows for days.",
		Kinds:    []string{"idle-memory", "idle-descriptors", "idle-processes", "idle-cpu"},
		Severity: record.SeverityError, Unit: "idle-growth",
		Expected: "no growth while nothing is asked", Found: "{value}",
	},
}

// Servers are the laws for servers, in the order in which they are judged.
func Servers() []Law { return append([]Law(nil), serverLaws...) }

// EveryID are the ids of all laws: those for hosts, and those for servers.
func EveryID() []string {
	ids := IDs()
	for i := range serverLaws {
		ids = append(ids, serverLaws[i].ID)
	}
	return ids
}
