package record

import (
	"slices"
	"strings"
)

// The words of a run file that code compares. Each has a type of its own, and its bytes are frozen: files,
// fingerprints and lists of known findings carry them. A word that is not listed here is still valid in a file.

// Op is what a step does.
type Op string

// The operations. Those of a scenario are described in package scenarios; the bench adds the last two.
const (
	OpOpen       Op = "open"
	OpCall       Op = "call"
	OpList       Op = "list" // of the tools, the resources or the prompts; of a server under test: the tools
	OpClose      Op = "close"
	OpForget     Op = "forget"
	OpAwait      Op = "await"
	OpRecycle    Op = "recycle"
	OpReload     Op = "reload"
	OpTick       Op = "tick"
	OpBreak      Op = "break"
	OpStop       Op = "stop"
	OpTerm       Op = "term"
	OpKill       Op = "kill"
	OpRestart    Op = "restart"
	OpCheckpoint Op = "checkpoint"
	OpRepeat     Op = "repeat"
	OpParallel   Op = "parallel"
	OpCancel     Op = "cancel" // of the driver protocol: it has no step of its own
	OpShare      Op = "share"  // likewise: an open of a session whose server entry others use, too
	OpJob        Op = "job"    // a job of a tick
	OpStart      Op = "start"  // a restart starts the host anew
)

// What the bench does to a server under test, as its client.
const (
	OpInitialize Op = "initialize"
	OpPing       Op = "ping"
	OpEOF        Op = "eof"     // stdin is closed
	OpHangUp     Op = "hang-up" // the read end of its stdout is closed
	OpIdle       Op = "idle"    // nothing is asked for a while
)

// Details of the steps against a server under test.
const (
	DetailSilent  = "no answer"
	DetailRefused = "refused"
	DetailClosed  = "stdout closed"
	// DetailServer is the Detail of a signal that is sent to what stands behind a launcher.
	DetailServer = "behind the launcher"
	// DetailShell is the Detail of one that is sent to the shell that the bench has put in front of the server.
	DetailShell = "the shell in front"
)

// EndsHost says that the step asks the host to end.
func (o Op) EndsHost() bool { return slices.Contains([]Op{OpStop, OpTerm, OpKill, OpEOF, OpHangUp}, o) }

// Details of steps.
const (
	// DetailProbe is the Detail of a job that only looks at its server: which
	// requests it sends, and whether it calls a tool, is the host's business.
	DetailProbe = "probe"
	// DetailRelaunch is the Detail of an await of the bench's own: a command host has a broken server, and may launch it again.
	DetailRelaunch = "relaunch"
	// DetailEOF is the Detail of a step that asks the host to end by the end of its stdin; the name of a signal may follow.
	DetailEOF = "stdin EOF"
)

// Expect is what a scenario expects of a step.
type Expect string

// The expectations. "" is ExpectOK.
const (
	ExpectOK   Expect = "ok"
	ExpectFail Expect = "fail"
	ExpectAny  Expect = "any"
)

// Moment is when a server commits a fault.
type Moment string

// The moments that code compares.
const (
	OnStart      Moment = "start"
	OnInitialize Moment = "initialize"
	OnDiscover   Moment = "discover"
	OnList       Moment = "list"
	OnEOF        Moment = "eof"
	OnTerm       Moment = "term"
	OnExit       Moment = "exit"
	OnOrder      Moment = "order" // the bench told it to
)

// Action is what a server does wrong.
type Action string

// The actions that code compares.
const (
	DoExit        Action = "exit"
	DoIgnore      Action = "ignore"
	DoLauncher    Action = "launcher"
	DoContainer   Action = "container"
	DoStopReading Action = "stop-reading"
	DoSpin        Action = "spin"
	DoWatchdog    Action = "watchdog"
	DoLock        Action = "lock"
	DoUnsupported Action = "unsupported-version"
)

// Method is a method of the Model Context Protocol.
type Method string

// The methods that code compares.
const (
	MethodInitialize Method = "initialize"
	MethodDiscover   Method = "server/discover" // the handshake of the newer era
	MethodCall       Method = "tools/call"
	MethodList       Method = "tools/list"
	MethodResources  Method = "resources/list"
	MethodPrompts    Method = "prompts/list"
	MethodPing       Method = "ping"
	MethodListen     Method = "subscriptions/listen"
	MethodCancelled  Method = "notifications/cancelled" // its ID is that of the request that was cancelled
)

// Row is a row of the specification's that is about clients over stdio.
type Row string

// The rows.
const (
	RowProbe       Row = "probe"       // server/discover comes first
	RowCancel      Row = "cancel"      // the server of a request that is cancelled is told
	RowRestart     Row = "restart"     // a server that has died is launched again
	RowVersion     Row = "version"     // a version that the server lists is tried
	RowResubscribe Row = "resubscribe" // a server that takes another's place gets its subscriptions
)

// Rows are all of them, in their order.
func Rows() []Row { return []Row{RowProbe, RowCancel, RowRestart, RowVersion, RowResubscribe} }

// Phase is how far a message has come in its server.
type Phase string

// The phases.
const (
	PhaseReceived Phase = "received"
	PhaseAnswered Phase = "answered"
	PhaseRefused  Phase = "refused" // an error was answered
)

// StdinState is the Text of a SawSignal: what the server's stdin was then; "" where the server could not tell.
type StdinState string

// The states of stdin.
const (
	StdinOpen   StdinState = "open"
	StdinClosed StdinState = "closed"
)

// LossReason is the Text of a Lost: why a server's connection ended without a death.
type LossReason string

// The reasons.
const (
	LostAtEnd  LossReason = "the bench closed the ledger"
	LostByCut  LossReason = "the bench cut the connection"
	LostUnseen LossReason = "the connection ended, but " // what the bench has seen of the process instead follows
)

// StderrFollows stands in the Text of a doubt or a failure between what the bench says and the end of the host's stderr.
const StderrFollows = "; its stderr ends with: "

// State is the state of a process, as the system's table has it.
type State string

// The states that code compares.
const (
	StateRunning  State = "R"
	StateSleeping State = "S"
	StateBlocked  State = "D" // in the kernel
	StateIdle     State = "I"
	StateStopped  State = "T"
	StateTraced   State = "t"
	StateZombie   State = "Z"
	StateUnknown  State = "?"
)

// HolderRole says whose process a holder of a descriptor is: one of the roles, RoleServer(id), or the name of its command.
type HolderRole string

// The roles.
const (
	RoleHost   HolderRole = "host"
	RoleKeeper HolderRole = "keeper"
	RoleBench  HolderRole = "bench"
)

const rolePrefix = "server "

// RoleServer is the role of a fake server.
func RoleServer(id string) HolderRole { return HolderRole(rolePrefix + id) }

// Server is the id of the fake server that the role names, or "".
func (r HolderRole) Server() string {
	id, ok := strings.CutPrefix(string(r), rolePrefix)
	if !ok {
		return ""
	}
	return id
}

// Why says why a session changed.
type Why string

// The reasons.
const (
	WhyNotOpened  Why = "could not be opened"
	WhyClose      Why = "close"
	WhyForget     Why = "forget"
	WhyReload     Why = "reload"
	WhyNoReload   Why = "the reload failed"
	WhyCancel     Why = "cancel"
	WhyTick       Why = "tick"
	WhyRequest    Why = "a request"
	WhyPerRequest Why = "no server outlives its request"
	WhyHostEnded  Why = "host ended"
)

// EarlyEnd says why a wait for survivors ended before its time.
type EarlyEnd string

// The reasons.
const (
	// EarlyFinal: the host is gone, and nothing is left but fake servers that do not end by themselves and what those have
	// started. Nobody is there who could end them, and nothing has moved for a while.
	EarlyFinal EarlyEnd = "final"
	// EarlyWaited: all survivors were watched in full before, at an earlier checkpoint.
	EarlyWaited EarlyEnd = "waited-before"
	// EarlyFast: the user wanted no longer wait (Limits.Fast). Nobody knows whether the survivors would have ended.
	EarlyFast EarlyEnd = "fast"
)

// EndReason says how a run ended.
type EndReason string

// The reasons.
const (
	EndDone        EndReason = "done"
	EndInterrupted EndReason = "interrupted"
	EndFailed      EndReason = "failed"
)

// EndStage says whose failure ended a run.
type EndStage string

// The stages.
const (
	StageHost  EndStage = "host"
	StageBench EndStage = "bench"
	// StageProgram: the program itself was deleted or replaced, so that no server could be launched again.
	StageProgram EndStage = "program"
	StageKeeper  EndStage = "keeper" // the process that watches the host was killed, or did not answer
)

// Place is where a host lives; "" is right below the keeper.
type Place string

// The places.
const (
	// PlacePID1: the host is process 1 of a pid namespace of its own.
	PlacePID1 Place = "pid-1"
	// PlaceInit: it is the child of an init of the keeper's, which is process 1
	// of a pid namespace. The namespace ends with the host.
	PlaceInit Place = "init"
	// PlaceSubreaper: it is the child of another subreaper, to which what it orphans comes home.
	PlaceSubreaper Place = "subreaper"
)
