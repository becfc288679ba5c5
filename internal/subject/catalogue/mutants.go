package catalogue

// Flaw is one small thing that a mutant does differently from exact. It breaks one law, and no other.
type Flaw int

// The flaws are those of Mutants and WindowsHosts, where it is said what each one is.
const (
	NoFlaw Flaw = iota
	ForgetsOld
	KeepsClosed
	NoDeathSignal
	LeavesOnTerm
	KillsSibling
	KillsByCommand
	SharesGroup
	RemembersPIDs
	SkipsWait
	KeepsStdout
	Hoards
	ConnectsTwice
	StopHangs
	CloseLingers
	KillsFirst
	TermsFirst
	Hasty
	NeverTriesLate
	NeverShares
	DropsUnlisted

	// Those of Reconnecting.
	EndsLate
	NeverReconnects

	// Those of WindowsHosts.
	JobsLate
	JobsLeak
	JobOfSession
	HandlesInherited
)

// Mutants are exact with one flaw each: they show that the bench names what is wrong, and nothing else.
var Mutants = []Host{
	mutant(ForgetsOld, "mutant-l1", "exact, but a connection that is superseded is forgotten",
		"deadline", Finding{"storm", "L1", "superseded"}),
	mutant(KeepsClosed, "mutant-l1-kept", "exact, but the server of a closed session is kept, and its profile does not say so",
		"", Finding{"grow", "L1", "abandoned"}),
	mutant(NoDeathSignal, "mutant-l2", "exact, but nothing ends its servers when it is killed",
		"storm", Finding{"crash", "L2", "deaf"}, Finding{"replace", "L2", "deaf"}),
	onUnix(mutant(LeavesOnTerm, "mutant-l2-term", "exact, but on SIGTERM it ends at once and leaves its servers",
		"reload", Finding{"restart", "L2", "deaf"})),
	mutant(KillsSibling, "mutant-l3", "exact, but with a superseded server it kills the newest other one",
		"hang", Finding{"storm", "L3", "killed"}),
	onUnix(mutant(KillsByCommand, "mutant-l3-command", "exact, but it also kills whatever has the command line of a server that it has ended",
		"", Finding{"reload", "L3", "twin"})),
	onUnix(mutant(SharesGroup, "mutant-l3-group", "exact, but its servers are in its own process group, which it signals before the first",
		"", Finding{"reload", "L3", "bystander"})),
	onUnix(mutant(RemembersPIDs, "mutant-l3-recycled", "exact, but it signals the pids of servers again that it has waited for",
		"storm", Finding{"recycled", "L3", "recycled"})),
	onUnix(mutant(SkipsWait, "mutant-l4", "exact, but it waits for no exit",
		"", Finding{"storm", "L4", "zombie"})),
	mutant(KeepsStdout, "mutant-l5", "exact, but its end of each server's stdout stays open",
		"", Finding{"storm", "L5", "fd-leak"}),
	mutant(Hoards, "mutant-l6", "exact, but it keeps 2 MiB for each connection that has ended",
		"", Finding{"storm", "L6", "host-growth"}),
	mutant(ConnectsTwice, "mutant-l7", "exact, but it makes and drops three connections before the one it keeps",
		"", Finding{"storm", "L7", "respawn"}),
	mutant(StopHangs, "mutant-l8", "exact, but it does not end once it has ended its servers",
		"", Finding{"reload", "L8", "hung-stop"}),
	mutant(CloseLingers, "mutant-l8-close", "exact, but a close returns 2.5s after it is done",
		"reload", Finding{"grow", "L8", "slow-close"}),
	mutant(KillsFirst, "mutant-l9", "exact, but it kills its servers at once",
		"", Finding{"reload", "L9", "killed-unasked"}),
	onUnix(mutant(TermsFirst, "mutant-l9-term", "exact, but SIGTERM comes before stdin EOF",
		"", Finding{"reload", "L9", "signal-first"})),
	mutant(Hasty, "mutant-l9-hasty", "exact, but SIGKILL comes 30 ms after stdin EOF",
		"storm", Finding{"shutdown", "L9", "cleanup-cut-short"}),
	mutant(NeverTriesLate, "mutant-l10", "exact, but a session that could not be opened once is never opened again",
		"reload", Finding{"hang", "L10", "no-recovery"}),
	mutant(NeverShares, "mutant-l11", "exact, but each session has a process of its own, also of a server entry that several use",
		"storm", Finding{"sharing", "L11", "per-conversation"}),
	mutant(DropsUnlisted, "mutant-l1-lists", "exact, but it lists the tools of a server at its connect, and drops the client when that fails",
		"reload", Finding{"lists", "L1", "superseded"}),
}

func mutant(flaw Flaw, name, about, clean string, shows ...Finding) Host {
	return Host{Name: name, About: about, Profile: reference(exactLadder), Flaw: flaw, Clean: clean, Shows: shows}
}

func onUnix(h Host) Host {
	h.Unix = true
	return h
}
