package law

var kindsFlat = []Kind{
	{
		ID: "abandoned", Law: "L1", Class: "A", Title: "a server outlives its session",
		Signature: "alive at the end of the watch; established; its session has ended; the host launched no other for it. Typically blocked in read(0), with the write end of its stdin held by the host",
		Why: "The host has let go of the client object and not of the process: a call was cancelled or ran out of time and the teardown was skipped with it, a finished session is kept for later, " +
			"or close() only told the task that owns the connection.",
		Fix: "Tie the process to the session, not to the path by which the session ends: give each session one owner that ends its server in a finally (defer, using, context exit) which also runs when the call is cancelled or times out, " +
			"shield that teardown from the cancellation, and let close() return only when the process is gone.",
		Reports: []string{"R002", "R017", "R020", "R037", "R058", "R063", "R065", "R066", "R071", "R103", "R106", "R107", "R109"},
		Findings: []Wording{
			{Title: "{n abandoned server} of {label} {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them abandoned"},
		},
	},
	{
		ID: "superseded", Law: "L1", Class: "A", Title: "a superseded server is still running",
		Signature: "alive at the end of the watch; established; a newer server of the same session was launched after it, because the session was reconnected or reloaded, or because a fault had ended it",
		Why:       "The host put the new connection in the place of the old one and dropped the old one. A session that has ended on the wire is not a process that has ended: stdout may be closed while the process waits on stdin.",
		Fix: "End the predecessor before, or right after, its successor takes its place, on every path that assigns the connection: reconnect, reload, lazy respawn, health check. " +
			"Treat the end of stdout as the end of the session and not of the process: close stdin, wait, SIGTERM, wait, SIGKILL, and wait for the exit by the handle of that very launch.",
		Reports: []string{"R001", "R005", "R006", "R027", "R028", "R033", "R034", "R043", "R044", "R047", "R051", "R057", "R079", "R098", "R102"},
		Findings: []Wording{
			{Title: "{n superseded server} of {label} {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them superseded"},
		},
	},
	{
		ID: "init-stranded", Law: "L1", Class: "G", Title: "a server that never finished its handshake is still running",
		Signature: "alive at the end of the watch; no initialize and no server/discover of it was ever answered",
		Why: "A failed or timed-out connect leaves a process that was never entered where teardown looks. The time limit ends the caller's waiting and not the connecting; " +
			"SDKs differ in whether a failed initialize ends the child, and most leave it to the caller.",
		Fix: "Own the process from the moment it is launched, not from the moment it is connected: whatever makes the connect fail (an error, a time-out, a cancellation, a refused version) has to end that process before the next attempt begins. " +
			"Call the client's close also when its connect has failed.",
		Reports: []string{"R004", "R016", "R024", "R042", "R051", "R052", "R097", "R126"},
		Findings: []Wording{
			{Title: "{n server} of {label} that never finished the handshake {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them never initialized"},
		},
	},
	{
		ID: "duplicate", Law: "L1", Class: "P", Title: "two servers were launched for one connection, and both are kept",
		Signature: "alive at the end of the watch beside a newer server of the same session; nothing was wrong with it, and the session was not opened anew in between",
		Why:       "Two callers saw that there was no connection and both made one; the later one overwrote the entry of the earlier. Or a probe (for the protocol's era, for the list of tools) was launched beside the session's own server and not ended.",
		Fix: "Make one connect in flight per server the rule: enter the pending connect in the table before the first await, and let later callers wait for it. Where a probe needs a process of its own, end it as soon as it has answered. " +
			"If a second connect has won after all, end the loser's process.",
		Reports: []string{"R044", "R055", "R057", "R069", "R077"},
		Findings: []Wording{
			{Title: "{n duplicate server} of {label} {is|are} still running ({cause})", Found: "{alive} alive, {seen} of them duplicate"},
		},
	},
	{
		ID: "launcher", Law: "L1", Class: "D", Title: "a launcher outlives its server",
		Signature: "alive at the end of the watch; no birth certificate; it was the parent of a server, or stood between that and the host; the server is gone",
		Why:       "The host has ended the server, or given it the end of its stdin, and not what it had launched itself: npx, uvx, docker run or a shell, which waits for something else, or for nothing.",
		Fix:       "What you have launched is what you have to end and to wait for: launch it in a process group of its own, signal the group, and wait for the launcher by its handle. A server that is gone is not a launcher that is gone.",
		Reports:   []string{"R008", "R082", "R110"},
		Findings: []Wording{
			{
				Title:    "{n launcher} of {label} ({comm}) {is|are} still running ({cause})",
				Expected: "no launcher without its server at checkpoint {checkpoint}, within {settle}", Found: "{seen} still there",
			},
		},
	},
	{
		ID: "late", Law: "L1", Class: "A", Title: "a server is gone, but later than it may be",
		Signature: "alive when the settle time was over, gone before the watch ended",
		Why:       "Something does end the server, only not the end of its session: the time-out of the request that was in flight, a periodic sweep, a garbage collector, or a ladder of grace periods longer than the host says.",
		Fix: "Let the end of the session end the server. If it is the host's time-out or sweep that does it, trigger that from close(). If the grace periods are meant to be that long, say so in the host's profile (settle): " +
			"the bench then allows for them.",
		Reports: []string{"R074", "R100", "R107"},
		Findings: []Wording{
			{Title: "{n server} of {label} went late ({cause}): up to {slowest}, {settle} allowed", Found: "{alive} alive, {seen} of them late, gone after up to {slowest}"},
		},
	},
}
