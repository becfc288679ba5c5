package law

import "github.com/leakbench/leakbench/internal/record"

// What several kinds advise.
const (
	exitOnEOF = "Exit when stdin ends. In Node: process.stdin.on('end', shutdown) and 'close', since the transports of older SDKs listen to " +
		"neither. In Python: let run() return, and use daemon threads. In Go: return from main when the transport returns."
	closeAll  = "Shut down what keeps the process running (timers, sockets, watchers, pools), with a limit of 1 s or 2 s, and then call exit."
	brokenOut = "Treat EPIPE on stdout like stdin EOF: shut down and exit. In Node, process.stdout.on('error', shutdown); " +
		"do not swallow it in an uncaughtException handler. In Go and Python, return from the loop when a write fails."
)

var kindsServer = []Kind{
	{
		ID: "silent", Law: "S1", Class: "G", Title: "a server does not answer",
		Headline:  "{host} does not answer",
		Signature: "alive, with its stdin open, and no answer to initialize within --start, or to tools/list, tools/call or ping within 10 s",
		Why: "It waits for something else first: a login, a download, a database, a lock. " +
			"Or it has closed its stdout, or printed its answer to a buffer that nobody flushes.",
		Fix: "Answer initialize before anything else is opened, and open the rest on the first call. " +
			"Answer a call that can't work with an error. Flush stdout after each line.",
		Reports:  []string{"R004", "R024", "R042", "R097", "R126"},
		Findings: []Wording{{Title: "{label} does not answer {cause}"}},
	},
	{
		ID: "refused", Law: "S1", Class: "G", Title: "a server refuses the handshake",
		Headline:  "{host} refuses the handshake",
		Signature: "initialize was answered with an error, and so was server/discover",
		Why:       "It knows none of the versions that the client offers, or it can't work without a setting, and says so.",
		Fix: "Answer initialize with the newest version that you have: the client decides whether it can use it. " +
			"Report a missing setting when a tool is called.",
		Reports:  []string{"R004"},
		Findings: []Wording{{Title: "{label} refuses {cause}"}},
	},
	{
		ID: "died", Law: "S1", Class: "N", Title: "a server exits while its client is there",
		Headline:  "{host} exits while its client is there",
		Signature: "the process that was launched ended after its handshake, with stdin open and without a signal of the bench",
		Why: "It crashed, or it believes that its client is gone. A watchdog may mistake a parent with PID 1 for a sign that the server is an " +
			"orphan. Other reasons are the PID file of a second instance, and an idle time-out that ends the process instead of the work.",
		Fix: "Look at the end of its stderr. Take stdin EOF as the sign that the client is gone; " +
			"a watchdog may only compare getppid() with its value at the start.",
		Reports:  []string{"R013", "R028", "R094", "R122", "R124"},
		Findings: []Wording{{Title: "{label} exited while its stdin was open ({cause})"}},
	},
	{
		ID: "eof-ignored", Law: "S2", Class: "B", Title: "a server ignores stdin EOF while it is idle",
		Headline:  "{host} ignores stdin EOF",
		Signature: "stdin was closed when all requests were answered; the process that was launched is alive at the end of the watch",
		Why: "Nothing reacts to stdin EOF, or something else keeps the process running: a timer, an open socket, " +
			"a file watcher, a thread that is no daemon.",
		Fix:      exitOnEOF + " " + closeAll,
		Reports:  []string{"R081", "R087", "R101", "R110", "R111", "R112", "R113", "R123"},
		Findings: []Wording{{Title: "{label} ignores stdin EOF"}},
	},
	{
		ID: "eof-ignored-in-call", Law: "S2", Class: "B", Title: "a server ignores stdin EOF while a request is unanswered",
		Headline:  "{host} ignores stdin EOF while it works on a request",
		Signature: "stdin was closed with a request unanswered; the process that was launched is alive at the end of the watch",
		Why: "The shutdown waits for the handler, and the handler does not know that its client is gone: " +
			"a long request, a process that it waits for, or a lock.",
		Fix: "Cancel the handlers when stdin ends, and wait for them with a limit of 1 s or 2 s. Then exit, whatever is still running. " +
			closeAll,
		Reports:  []string{"R066", "R090", "R123"},
		Findings: []Wording{{Title: "{label} ignores stdin EOF with {cause} unanswered"}},
	},
	{
		ID: "eof-ignored-at-start", Law: "S2", Class: "G", Title: "a server ignores stdin EOF before initialize",
		Headline:  "{host} ignores stdin EOF before initialize",
		Signature: "stdin was closed as soon as the process was there; it is alive at the end of the watch",
		Why: "The listener for stdin EOF is started after something slow, or with the first session. Clients give up while a server starts: a " +
			"timeout, a closed window, a probe.",
		Fix:      "Listen for stdin EOF before anything else is opened. " + exitOnEOF,
		Reports:  []string{"R024", "R097", "R111", "R126"},
		Findings: []Wording{{Title: "{label} ignores stdin EOF before initialize", Expected: "the server comes up, and exits within {settle}"}},
	},
	{
		ID: "eof-ignored-orphaned", Law: "S2", Class: "D", Title: "a server ignores stdin EOF once its launcher is gone",
		Headline: "{host} ignores stdin EOF once its launcher is gone",
		Signature: "the shell in front of the server was ended by SIGTERM, and then stdin was closed; " +
			"what the shell had started is alive at the end of the watch",
		Why: "Many clients launch a server through sh -c, npx or uvx, and their signal ends the launcher alone. " +
			"Stdin EOF is then all that is left, and it arrives: the server inherited the pipe.",
		Fix:      exitOnEOF + " Do not rely on a signal, or on the launcher. " + closeAll,
		Reports:  []string{"R072", "R076", "R082", "R084", "R110"},
		Findings: []Wording{{Title: "{label} ignores stdin EOF once the shell in front of it is gone"}},
	},
	{
		ID: "eof-spin", Law: "S2", Class: "C", Title: "a server is busy after stdin EOF",
		Headline:  "{host} uses a processor after stdin EOF",
		Signature: "alive at the end of the watch after stdin EOF, with at least half a processor between the two looks",
		Why:       "The loop reads again at once when a read returns nothing, or an error is caught and tried again. Nothing in it ever blocks.",
		Fix:       "A read of 0 bytes is the end, not an empty message: leave the loop. Leave it on an error too. " + closeAll,
		Reports:   []string{"R093", "R115", "R116"},
		Findings:  []Wording{{Title: "{label} is busy after stdin EOF"}},
	},
	{
		ID: "eof-late", Law: "S2", Class: "F", Title: "a server exits late after stdin EOF", Severity: record.SeverityWarning,
		Headline:  "{host} exits late after stdin EOF",
		Signature: "alive when the grace time after stdin EOF was over, gone at the end of the watch",
		Why: "The cleanup takes long, or waits for a timeout. Clients wait 2 s to 5 s before they send SIGTERM, " +
			"and then SIGKILL: the cleanup is cut short.",
		Fix: "Finish within 2 s: limit each part of the cleanup, and do the parts side by side. " +
			"Save what must not be lost while you work, not at the end.",
		Reports:  []string{"R078", "R091"},
		Findings: []Wording{{Title: "{label} exits late after stdin EOF ({cause})"}},
	},
	{
		ID: "term-ignored", Law: "S3", Class: "F", Title: "a server ignores SIGTERM",
		Headline:  "{host} ignores SIGTERM",
		Signature: "SIGTERM reached the server itself; it is alive at the end of the watch",
		Why: "SIGTERM is ignored, or a handler does its work and does not exit. " +
			"As PID 1 of a container, a process without a handler does not get the signal at all.",
		Fix: "End the process in the handler: after a cleanup with a limit, call exit. Without cleanup, leave the default. " +
			"In a container, run under an init (docker run --init).",
		Reports:  []string{"R009", "R085", "R099", "R115"},
		Findings: []Wording{{Title: "{label} ignores SIGTERM"}},
	},
	{
		ID: "term-not-forwarded", Law: "S3", Class: "D", Title: "the launcher in front of a server does not pass SIGTERM on",
		Headline: "the launcher of {host} does not pass SIGTERM on",
		Signature: "SIGTERM to the process that was launched left the server behind it running: " +
			"it still answered, or exited once SIGTERM was sent to itself",
		Why: "The command is a shell, npx, uvx or a script that starts the server and waits for it. " +
			"A signal ends the launcher, or the launcher ignores it, and the server is not told.",
		Fix: "Publish a command that is the server: `node dist/index.js`, a console script, a binary. In a shell, start it with exec. " +
			"A launcher of your own must pass SIGTERM and SIGINT on. And exit on stdin EOF, which needs no launcher.",
		Reports:  []string{"R008", "R022", "R072", "R082", "R084", "R110"},
		Findings: []Wording{{Title: "the launcher in front of {label} does not pass SIGTERM on"}},
	},
	{
		ID: "term-late", Law: "S3", Class: "F", Title: "a server exits late after SIGTERM", Severity: record.SeverityWarning,
		Headline:  "{host} exits late after SIGTERM",
		Signature: "alive when the grace time after SIGTERM was over, gone at the end of the watch",
		Why:       "The cleanup takes long, or waits for a timeout. Clients send SIGKILL 2 s to 5 s after SIGTERM, and it is cut short.",
		Fix:       "Finish within 2 s: limit each part of the cleanup, and do the parts side by side.",
		Reports:   []string{"R085", "R099"},
		Findings:  []Wording{{Title: "{label} exits late after SIGTERM"}},
	},
	{
		ID: "epipe-ignored", Law: "S4", Class: "C", Title: "a server goes on when its stdout is broken", Severity: record.SeverityWarning,
		Headline:  "{host} goes on when its stdout is broken",
		Signature: "the read end of its stdout was closed and it was made to write; alive at the end of the watch, and gone after stdin EOF",
		Why: "The error of the write is caught and dropped. It does no harm while stdin EOF follows, " +
			"which a client that is half dead does not send.",
		Fix:      brokenOut,
		Reports:  []string{"R114", "R117"},
		Findings: []Wording{{Title: "{label} goes on when its stdout is broken"}},
	},
	{
		ID: "epipe-stuck", Law: "S4", Class: "B", Title: "a server stays when its stdout is broken, and ignores stdin EOF from then on",
		Headline:  "{host} stays when its stdout is broken, whatever follows",
		Signature: "the read end of its stdout was closed and it was made to write; alive at the end of the watch, and after stdin EOF too",
		Why:       "The error of the write ended what reads stdin, or left it waiting, and something else keeps the process running.",
		Fix:       brokenOut + " " + exitOnEOF,
		Reports:   []string{"R114", "R117"},
		Findings:  []Wording{{Title: "{label} stays when its stdout is broken, and ignores stdin EOF from then on"}},
	},
	{
		ID: "epipe-spin", Law: "S4", Class: "C", Title: "a server is busy when its stdout is broken",
		Headline: "{host} uses a processor when its stdout is broken",
		Signature: "the read end of its stdout was closed and it was made to write; " +
			"alive at the end of the watch, with at least half a processor",
		Why:      "The handler of the error writes it to stdout, or the write is tried again at once. Both fail in the same way, for ever.",
		Fix:      brokenOut,
		Reports:  []string{"R114", "R117"},
		Findings: []Wording{{Title: "{label} is busy when its stdout is broken"}},
	},
	{
		ID: "epipe-late", Law: "S4", Class: "F", Title: "a server exits late when its stdout is broken", Severity: record.SeverityWarning,
		Headline:  "{host} exits late when its stdout is broken",
		Signature: "alive when the grace time after a broken stdout was over, gone at the end of the watch",
		Why:       "The cleanup takes long, or waits for a timeout.",
		Fix:       brokenOut,
		Reports:   []string{"R114"},
		Findings:  []Wording{{Title: "{label} exits late when its stdout is broken"}},
	},
	{
		ID: "helper-left", Law: "S5", Class: "D", Title: "a process that a server started is left",
		Headline:  "{host} leaves {n process} behind",
		Signature: "alive at the end of the watch, after the server had ended; in the server's session",
		Why:       "The server started a browser, a worker or a shell, and did not end it. A child does not end with its parent.",
		Fix: "End what you start: keep its handle, end it in the same cleanup that stdin EOF and SIGTERM run, and wait for it. " +
			"Give it a pipe as its stdin that closes when you die, or PR_SET_PDEATHSIG on Linux.",
		Reports:  []string{"R008", "R015", "R050", "R082"},
		Findings: []Wording{{Title: "{n process} {comm} {is|are} left after {label}"}},
	},
	{
		ID: "helper-escaped", Law: "S5", Class: "E", Title: "a process that a server started is left in a session of its own",
		Headline:  "{host} leaves {n process} behind, out of reach of a client",
		Signature: "alive at the end of the watch, after the server had ended; in another session than the server's",
		Why: "The helper was started detached (setsid, detached: true, start_new_session), so that no signal to the server's group reaches it. " +
			"Clients that end the whole group miss it too.",
		Fix: "Do not detach a helper that must not outlive you. Where it has to have a group of its own, end that group yourself, " +
			"with a limit, in the cleanup that stdin EOF and SIGTERM run.",
		Reports:  []string{"R009", "R015", "R018"},
		Findings: []Wording{{Title: "{n process} {comm} in another session {is|are} left after {label}"}},
	},
	{
		ID: "helper-late", Law: "S5", Class: "F", Title: "a process that a server started ends late", Severity: record.SeverityWarning,
		Headline:  "{host} leaves {n process} for a while",
		Signature: "alive when the grace time was over, after the server had ended; gone at the end of the watch",
		Why: "The helper notices by itself that its server is gone, after a timeout. " +
			"A server that is started again meanwhile may meet its lock or its port.",
		Fix:      "End what you start before you exit, and wait for it.",
		Reports:  []string{"R006", "R016"},
		Findings: []Wording{{Title: "{n process} {comm} {ends|end} late after {label}"}},
	},
	{
		ID: "unreaped-child", Law: "S5", Class: "H", Title: "a server does not wait for a child that has ended",
		Headline:  "{host} leaves {n zombie}",
		Signature: "a zombie for 2 s at least, while its parent, a process of the server, was alive",
		Why:       "The server noticed the end of the child on a pipe, or sent it a signal, and did not wait for its exit.",
		Fix: "Wait for each process that you start, exactly once, whatever ended it. In Python, keep the Popen object and call wait(). " +
			"In Go, call Wait also after Kill.",
		Reports: []string{"R077", "R119"},
		Findings: []Wording{{
			Title: "{n dead process} {comm} {was|were} not waited for by {label}", Expected: "each child that has ended is waited for within 2 s",
			Found: "{value}",
		}},
	},
	{
		ID: "stdout-noise", Law: "S6", Class: "O", Title: "a server writes something to stdout that is no message",
		Headline:  "{host} writes to stdout what is no message",
		Signature: "a line on stdout, an empty one or a last one without its end that is no object of JSON-RPC 2.0",
		Why: "A banner, a log line or a debug print: the default of print and console.log is stdout. " +
			"Libraries and child processes that inherit stdout do it too.",
		Fix: "Send all logs to stderr (console.error, logging to sys.stderr). Give child processes pipes of their own. " +
			"Install libraries' loggers before they print.",
		Reports:  []string{"R032"},
		Findings: []Wording{{Title: "{label} wrote {n line} to stdout that {is|are} no message"}},
	},
	{
		ID: "idle-memory", Law: "S7", Class: "O", Title: "an idle server's memory grows", Severity: record.SeverityWarning,
		Headline:  "{host} needs more memory while it is idle",
		Signature: "the resident memory of all its processes grows by more than 1 MiB a minute with 95 % confidence, while nothing is asked",
		Why: "A timer or a watcher keeps what it has seen. In a short time, the warm-up of a runtime looks the same: " +
			"watch longer (--idle 5m).",
		Fix:      "Find the timer. Keep nothing that a later round replaces.",
		Reports:  []string{"R015"},
		Findings: []Wording{{Title: "the memory of {label} grows while it is idle"}},
	},
	{
		ID: "idle-descriptors", Law: "S7", Class: "I", Title: "an idle server's descriptors grow",
		Headline:  "{host} opens more descriptors while it is idle",
		Signature: "the descriptors of all its processes grow with 95 % confidence, by 5 at least, while nothing is asked",
		Why: "A timer opens a file, a socket or a watch each time, and does not close it. " +
			"In the end nothing can be opened any more (EMFILE).",
		Fix:      "Close what each round opens, also where it fails. Use one connection for all rounds.",
		Reports:  []string{"R004"},
		Findings: []Wording{{Title: "the open descriptors of {label} grow while it is idle"}},
	},
	{
		ID: "idle-processes", Law: "S7", Class: "O", Title: "an idle server starts more and more processes",
		Headline:  "{host} starts more processes while it is idle",
		Signature: "the number of its processes grows with 95 % confidence, by 3 at least, while nothing is asked",
		Why:       "A timer starts a process each time, and the one before has not ended.",
		Fix:       "Start the next one when the one before has ended, and give each a time limit.",
		Reports:   []string{"R015"},
		Findings:  []Wording{{Title: "{label} starts more and more processes while it is idle"}},
	},
	{
		ID: "idle-cpu", Law: "S7", Class: "C", Title: "an idle server uses a processor",
		Headline: "{host} uses a processor while it is idle",
		Signature: "its processes used half a processor or more while nothing was asked, or were ready to run at 70 % of the " +
			"looks where others wanted the processors too",
		Why:      "A loop asks without a pause whether there is something to do.",
		Fix:      "Block until there is something to do: a read, a condition, a timer.",
		Reports:  []string{"R104"},
		Findings: []Wording{{Title: "{label} uses a processor while it is idle"}},
	},
}
