package law

import (
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// Doubt is a reason why a run can't be called clean, with what to do about it.
type Doubt struct {
	Code  record.DoubtCode
	Means string
	Do    string
}

// Advices that several doubts share.
const (
	playAgain   = "Run it again. If it comes back, leakbench doctor checks what this machine allows."
	quieter     = "Run it again on a quieter machine, or alone, or with a longer --settle."
	reportABug  = "Please report it with the run's folder: this is a fault of leakbench."
	askLess     = "Choose scenarios that apply to the host (leakbench list scenarios), or write a driver for the host."
	seeTheSteps = "Look at the step in the report and at the host's log. If the host can't do what the step asks, choose another scenario."
)

var doubts = []Doubt{
	{
		record.DoubtTooLong, "An event was too long for the run file and was left out.",
		"Look for a host or server that writes very long lines.",
	},
	{
		record.DoubtNoPlace, "The scenario needs an environment for the host that this machine doesn't allow, such as a PID namespace.",
		"Run leakbench doctor. It says what is missing.",
	},
	{record.DoubtKeeperLost, "The keeper, the process that watches all others, died or didn't answer.", playAgain},
	{
		record.DoubtSweep, "The final sweep could not end every process.",
		"Look for a process that was stopped, or that belongs to another user, and end it.",
	},
	{
		record.DoubtNotAskable, "The host could not be asked to end, so the run ended there.",
		"Windows asks a console program with CTRL_C. For another one write stop: {eof: true} into its host file, or write a driver.",
	},
	{record.DoubtNoCancel, "The request to cancel had already finished, or never began.", quieter},
	{record.DoubtNoControl, "The server could not be tried without the host.", playAgain},
	{record.DoubtNoAnswer, "The outcome of a request is unknown.", seeTheSteps},
	{record.DoubtNoEvidence, "Survivors could not be examined.", "Run leakbench doctor, or run as the user who owns the processes."},
	{record.DoubtNoLimit, "The host's open files could not be limited.", "Run leakbench doctor. It says which limits can be set."},
	{record.DoubtNoBystander, "No bystander could be put into the host's process group.", playAgain},
	{record.DoubtNoOutput, "The host's stdout could not be kept.", "Check the free space and the permissions of the --out folder."},
	{record.DoubtNoTwin, "No twin (a process with a server's command line) could be started.", playAgain},
	{
		record.DoubtOutside, "The kernel or another process, not the host, ended a server.",
		"Run it again with more memory, and without other programs that kill processes.",
	},

	{record.DoubtLedgerAccept, "The ledger could not accept a connection.", "Raise the limit of open files (ulimit -n), and run it again."},
	{
		record.DoubtLedgerStranger, "Something connected to the ledger that isn't a server of this run.",
		"Check that no host of an earlier run is still alive, and run it again.",
	},
	{record.DoubtLedgerGarbage, "A server sent the ledger something that isn't a message.", reportABug},
	{record.DoubtLedgerIdentity, "The process of a server could not be identified.", playAgain},
	{record.DoubtLedgerRefused, "A server could not do what the scenario ordered.", playAgain},
	{
		record.DoubtLedgerNoAccess, "A server could not reach the ledger.",
		"Run host and servers as your own user, and with the same /tmp as leakbench.",
	},

	{record.DoubtTruncated, "The run file is not complete.", "Run it again. Look for a full disk or a killed leakbench."},
	{
		record.DoubtMalformed, "Events in the run file lack required fields.",
		"Run it again with this version, or judge the file with the version that wrote it.",
	},
	{record.DoubtInterrupted, "The run was stopped before its end.", "Let it run to its end."},
	{record.DoubtHostFailed, "The host did not start, or did not speak its protocol.", "Look at the end of the host's log in the report."},
	{record.DoubtBenchFailed, "leakbench itself failed.", reportABug},
	{
		record.DoubtProgramGone, "The leakbench program was deleted or replaced during the run.",
		"Run it again, and do not replace the program during the run.",
	},
	{record.DoubtHostExited, "The host ended before it was asked to.", "Look at the end of the host's log in the report."},
	{
		record.DoubtNotLaunched, "The host launched fewer servers than the scenario needs.",
		"Check that the host's configuration names the fake server, and that the host connects at its start.",
	},
	{record.DoubtNotFired, "A planned fault never fired, because the server didn't get that far.", seeTheSteps},
	{record.DoubtNoCheckpoint, "A checkpoint was not completed.", playAgain},
	{
		record.DoubtAfterEnd, "A process started or ended after the host's end, and was never seen alive.",
		"Look for a helper of the host that starts servers on its own.",
	},
	{record.DoubtStretched, "The machine was so busy that leakbench waited longer than the limit.", quieter},
	{record.DoubtStarved, "The machine was too busy to judge how long something took.", quieter},
	{
		record.DoubtNotJudged, "A law that the scenario is about could not be judged.",
		"The report's table of laws says why. Choose a scenario that applies to the host.",
	},
	{record.DoubtNotPlayed, "A step that the scenario is about was not run.", askLess},
	{record.DoubtNotQuiet, "The servers were not as expected at a checkpoint, and no law says why.", seeTheSteps},
	{record.DoubtLedgerLost, "The ledger lost the connection of a server that was alive.", playAgain},
	{record.DoubtDisagree, "The ledger and the process table disagree.", playAgain},
	{record.DoubtStepSkipped, "The host can't do what a step asks.", askLess},
	{record.DoubtStepFailed, "A step failed, and no law says why.", seeTheSteps},
	{record.DoubtTwinEnded, "One of leakbench's own processes ended by itself.", playAgain},
	{
		record.DoubtCallNotSeen, "The host answered a call that its server never received.",
		"Let the host pass calls on to its server: a cached or made-up answer proves nothing.",
	},
	{
		record.DoubtCrossedCall, "A call reached the server of another session, or was answered with the result of another call.",
		"Look for connections that the host confuses: each call has a nonce of its own, which the run file and the results have.",
	},
	{
		record.DoubtCallNotPlayed,
		"No tool was called, because leakbench does not know how. A reconnect that the client makes in a call was not seen.",
		"Pass call: Options.Call in Go, call= in Python, { call } in Node. docs/testing.md lists the methods that are called without it.",
	},
	{record.DoubtControlMissing, "A server was not tried without the host.", playAgain},
	{record.DoubtControlFailed, "The server misbehaved without the host as well, although no fault was planned.", playAgain},
	{record.DoubtControlLate, "The server was slow to exit without the host as well, although no fault was planned.", quieter},
	{record.DoubtDaemon, "The host went to the background, where it can't be asked to end.", "Start the host in the foreground."},
	{
		record.DoubtOrphans, "Servers had helpers or launchers, and this system does not show the bench what a host orphans.",
		"Play the scenario on Linux, or one without helpers and launchers: the ledger sees each server here, too.",
	},
	{
		record.DoubtConnections, "The host uses several servers at once, but did not declare that.",
		"Declare how many servers the host keeps at a time: in its host file, or in the profile of its driver.",
	},
	{
		record.DoubtUnasked, "The host launched another server for an open session, although leakbench had asked for nothing.",
		"If it replaces servers regularly, or keeps spare ones, declare that in the profile (docs/host-file.md).",
	},
	{
		record.DoubtNotSeen, "From outside it could not be seen whether a law is kept: equal servers were idle, or something could not be read.",
		"Watch for longer (--for), while the host works, as the user who owns it. --resident N is how many idle servers it keeps on purpose.",
	},
	{record.DoubtUnnamed, "The run file has a doubt without a code.", "Judge the file with the version that wrote it."},
}

// Doubts are the reasons for doubt, in the order of the bench's life: preparing, recording, judging.
func Doubts() []Doubt { return slices.Clone(doubts) }

// DoubtOf is the doubt of a code. One of a later version has nothing but its code.
func DoubtOf(code record.DoubtCode) Doubt {
	if i := slices.IndexFunc(doubts, func(d Doubt) bool { return d.Code == code }); i >= 0 {
		return doubts[i]
	}
	return Doubt{Code: code}
}
