package record

// Doubt is something that the bench could not do or see, so that the run may not be called clean.
type Doubt struct {
	Code DoubtCode `json:"code"`
	Text string    `json:"text"`
}

// DoubtCode names a reason for doubt. Scripts and saved runs hold these words, so they never change; the texts beside them may.
type DoubtCode string

// What the bench writes down while a run runs.
const (
	DoubtTooLong     DoubtCode = "event-too-long" // an event had no room in a line of the file
	DoubtNoPlace     DoubtCode = "no-place"       // the host can't be put where the scenario wants it: nothing was run
	DoubtKeeperLost  DoubtCode = "keeper-lost"    // the keeper died
	DoubtSweep       DoubtCode = "sweep"          // the last sweep did not end everything
	DoubtNotAskable  DoubtCode = "not-askable"    // the host could not be asked to end: nothing was run after that
	DoubtNoCancel    DoubtCode = "no-cancel"      // what was to be cancelled in flight was over, or never began
	DoubtNoControl   DoubtCode = "no-control"     // no server could be tried without the host
	DoubtNoAnswer    DoubtCode = "no-answer"      // what became of a request is not known
	DoubtNoEvidence  DoubtCode = "no-evidence"    // survivors could not be examined
	DoubtNoLimit     DoubtCode = "no-limit"       // the host's open files could not be limited
	DoubtNoBystander DoubtCode = "no-bystander"   // no bystander could be put into the host's group
	DoubtNoOutput    DoubtCode = "no-output"      // the host's stdout is not kept
	DoubtNoTwin      DoubtCode = "no-twin"        // no twin could be put beside the host
)

// What the ledger writes down.
const (
	DoubtOutside        DoubtCode = "ended-from-outside"   // a server died, and neither the host nor the bench need have done it
	DoubtLedgerAccept   DoubtCode = "ledger-accept"        // a connection could not be accepted
	DoubtLedgerStranger DoubtCode = "ledger-stranger"      // a peer of another run, with an unknown label, or without a certificate
	DoubtLedgerGarbage  DoubtCode = "ledger-garbage"       // a peer sent what is no message
	DoubtLedgerIdentity DoubtCode = "ledger-identity"      // a peer's process could not be identified
	DoubtLedgerRefused  DoubtCode = "ledger-refused-order" // a server could not obey an order
	DoubtLedgerNoAccess DoubtCode = "ledger-unreached"     // a server could not reach the ledger: another user, another /tmp
	// DoubtServerArguments is a server whose host has changed the arguments that leakbench gave.
	DoubtServerArguments DoubtCode = "server-arguments"
)

// What the judge adds.
const (
	DoubtTruncated      DoubtCode = "truncated"           // the file is not complete
	DoubtMalformed      DoubtCode = "malformed"           // events lack what they must say
	DoubtInterrupted    DoubtCode = "interrupted"         // the run was stopped
	DoubtHostFailed     DoubtCode = "host-failed"         // the host did not start, or did not speak
	DoubtBenchFailed    DoubtCode = "bench-failed"        // the bench itself failed
	DoubtProgramGone    DoubtCode = "program-gone"        // the program was deleted or replaced during the run
	DoubtHostExited     DoubtCode = "host-exited"         // the host ended before it was asked to
	DoubtNotLaunched    DoubtCode = "host-never-launched" // fewer launches than the scenario needs
	DoubtNotFired       DoubtCode = "fault-not-fired"     // fewer faults than the scenario needs
	DoubtNoCheckpoint   DoubtCode = "checkpoint-missing"  // a checkpoint was not completed
	DoubtAfterEnd       DoubtCode = "after-the-end"       // something was born, or ended, after the host and was never seen
	DoubtStretched      DoubtCode = "stretched"           // a checkpoint came to rest only because the wait was stretched
	DoubtStarved        DoubtCode = "starved"             // something took too long on a machine that was starved
	DoubtNotJudged      DoubtCode = "law-not-judged"      // a law that the scenario is about was not judged
	DoubtNotPlayed      DoubtCode = "step-not-played"     // a step that the scenario is about was not played
	DoubtNotQuiet       DoubtCode = "not-quiet"           // a checkpoint did not come to rest, and no law says why
	DoubtLedgerLost     DoubtCode = "ledger-lost"         // the ledger lost a server that lived
	DoubtDisagree       DoubtCode = "witnesses-disagree"  // ledger and census do not agree
	DoubtStepSkipped    DoubtCode = "step-skipped"        // the host can't do a step
	DoubtStepFailed     DoubtCode = "step-failed"         // a step failed, and no law says why
	DoubtTwinEnded      DoubtCode = "twin-ended"          // the bench's own process ended by itself
	DoubtCallNotSeen    DoubtCode = "call-not-seen"       // the host answered a call that never reached its server
	DoubtCrossedCall    DoubtCode = "crossed-call"        // a call reached the server of another session, or got another call's answer
	DoubtCallNotPlayed  DoubtCode = "call-not-played"     // the driver had no way to make a call
	DoubtControlMissing DoubtCode = "control-missing"     // a server was not tried without the host
	DoubtControlFailed  DoubtCode = "control-failed"      // it misbehaved there too, without a fault that says so
	DoubtControlLate    DoubtCode = "control-late"        // it took long to exit, without a fault that says so
	DoubtDaemon         DoubtCode = "daemon"              // the host went to the background, where it can't be asked to end
	DoubtOrphans        DoubtCode = "orphans-unseen"      // orphans leave the census, and servers have started what has no ledger line
	DoubtConnections    DoubtCode = "two-connections"     // a host of unknown sessions uses several servers at once, undeclared
	DoubtUnasked        DoubtCode = "launched-unasked"    // a server was launched for an open session that had one, and nobody had asked
	DoubtNotSeen        DoubtCode = "not-seen"            // what a law needs of a host that is watched from outside was not seen
	DoubtUnnamed        DoubtCode = "unnamed"             // a file has one without a code
)
