package record

import (
	"time"

	"github.com/leakbench/leakbench/internal/duration"
)

// Duration is a time.Duration that reads and writes as text ("1.5s").
type Duration = duration.Duration

// Version is the latest version of the run file format. A reader refuses a file with a greater one;
// docs/understand/run-file.md lists what each version changed.
const Version = 2

// version is the earliest one that says what the header says: an older reader has to refuse no more files than it would misjudge. It
// would call leaked what a fast run has not waited for.
func (h *Header) version() int {
	if h.Limits.Fast > 0 {
		return 2
	}
	return 1
}

// Format is the value of Header.Format in every run file.
const Format = "leakbench-run"

// Header is the first line of a run file. It carries everything that a judge needs besides the events, so that a file
// can be judged years later without the scenario, the host or the machine that made it.
type Header struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	ID      string    `json:"id"`      // unique; also the token in the argv of every fake server of the run
	Started time.Time `json:"started"` // the only wall clock in the file; event times count from here
	Tool    Tool      `json:"tool"`
	System  System    `json:"system"`
	Witness Witness   `json:"witness"`
	Seed    uint64    `json:"seed"`

	Scenario Scenario `json:"scenario"`
	Host     Host     `json:"host"`
	Limits   Limits   `json:"limits"`
	Plan     Plan     `json:"plan"`
	Command  []string `json:"command,omitempty"` // what reproduces the run, redacted
	// Again says why this run was made although there had been one: what came of that beside other runs, or "". This one was made alone.
	Again string `json:"again,omitempty"`
	// Soak is how long the scenario was to be played again and again with one host; 0: it was played once.
	Soak Duration `json:"soak,omitempty"`
}

// Tool is the bench that wrote the file.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

// System is the machine the run took place on.
type System struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel"`
	CPUs   int    `json:"cpus"`
	UID    int    `json:"uid"`
}

// Windows is the OS of runs without signals, zombies and process groups.
const Windows = "windows"

// Witness says how each witness saw the run, and names what it could not see.
type Witness struct {
	Ledger    string   `json:"ledger"`           // how a peer's pid was attested: "SO_PEERCRED", "LOCAL_PEERPID", "none"
	Census    string   `json:"census"`           // "procfs" or "gopsutil"
	Subreaper bool     `json:"subreaper"`        // the keeper adopts what the host orphans
	Cgroup    string   `json:"cgroup,omitempty"` // the run's own cgroup, or "" where none could be made
	Weak      []string `json:"weak,omitempty"`   // one sentence for each thing that this run could not see
}

// Scenario is what was played. Source is the file's text.
type Scenario struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	File    string   `json:"file,omitempty"`
	Reports []string `json:"reports,omitempty"`
	Level   Level    `json:"level,omitempty"`
	Source  string   `json:"source"`
	// Part is the server that the host was given, where it is given one of several; "" is all of them.
	Part string `json:"part,omitempty"`
	// Omitted says which of its steps were left out for this host, in words.
	Omitted string `json:"omitted,omitempty"`
}

// Level is what a scenario asks of a host. It changes no verdict.
type Level string

// The levels.
const (
	Orderly  Level = "orderly"  // what any client that is closed has to do
	Stubborn Level = "stubborn" // deaf servers, launchers, helpers, full pipes, zombies
	Sudden   Level = "sudden"   // the host or its client is gone from one moment to the next, or is process 1
)

// Levels are all of them, in their order.
func Levels() []Level { return []Level{Orderly, Stubborn, Sudden} }

// String names the scenario, with its part where that is what was played: "wrapper (npx)".
func (s Scenario) String() string {
	if s.Part == "" {
		return s.Name
	}
	return s.Name + " (" + s.Part + ")"
}

// HostKind says how much the bench can ask of a host.
type HostKind string

const (
	// KindDriver hosts speak the driver protocol: the bench knows each session.
	KindDriver HostKind = "driver"
	// KindCommand hosts are any command line: started, watched, stopped.
	KindCommand HostKind = "command"
	// KindGateway hosts are driven over HTTP, by clients of the bench's own.
	KindGateway HostKind = "gateway"
	// KindOneshot hosts are a command line for each job of a tick.
	KindOneshot HostKind = "oneshot"
	// KindServer is no host: a server is under test, and the bench is its client.
	KindServer HostKind = "server"
	// KindAttached hosts run already: they are watched from outside, and nothing is asked of them.
	KindAttached HostKind = "attached"
)

// Subject is what is under test.
func (k HostKind) Subject() string {
	if k == KindServer {
		return "server"
	}
	return "host"
}

// Driven says that a process of the kind speaks the driver protocol: a driver, or the bench's own that runs a command for each job.
func (k HostKind) Driven() bool { return k == KindDriver || k == KindOneshot }

// Sharing says for whom a gateway launches a server.
type Sharing string

const (
	// PerSession gives each client a server of its own, as long as it is connected.
	PerSession Sharing = "per-session"
	// PerRequest gives one to each request, and none outlives it.
	PerRequest Sharing = "per-request"
	// Shared gives all clients the same one, as long as the gateway lives.
	Shared Sharing = "shared"
	// Either is a driver whose sessions share a server entry: it serves them by one process or by several, as it likes.
	Either Sharing = "either"
)

// Host is the thing under test.
type Host struct {
	Name    string   `json:"name"`
	Kind    HostKind `json:"kind"`
	Version string   `json:"version,omitempty"`
	Command []string `json:"command"` // redacted
	About   string   `json:"about,omitempty"`
	Profile Profile  `json:"profile"`
	Servers Sharing  `json:"servers,omitempty"` // of a gateway, and of a driver in a scenario whose sessions share an entry
}

// SessionsUnknown says that the host's servers can't be told apart by session: of a label at most one is wanted.
func (h Host) SessionsUnknown() bool {
	return h.Kind == KindCommand || h.Servers == Shared || h.Servers == Either
}

// Profile is what a host declares about itself. Zero values mean "not said".
type Profile struct {
	Settle  Duration `json:"settle,omitempty"`  // longest orderly teardown of one server
	Confirm Duration `json:"confirm,omitempty"` // longest request timeout: how long a survivor is watched on
	Stop    Duration `json:"stop,omitempty"`    // longest orderly shutdown of the host
	Ladder  string   `json:"ladder,omitempty"`  // the teardown in words: "stdin close, 2 s, TERM, 3 s, KILL"
	// Resident is how many servers of a label the host means to keep when their
	// sessions end (keep-alive, a pool): those are no finding while it lives.
	Resident int    `json:"resident,omitempty"`
	Scale    string `json:"scale,omitempty"` // by what factor its delays are shorter than in the field
	// Spare is how many servers of a label the host keeps besides those of its sessions, for the next one.
	Spare int `json:"spare,omitempty"`
	// Idle is after what time without a call the host ends the server of an open session in order, until the next
	// call; Renewal how often it gives one a new server. Neither is collateral damage.
	Idle    Duration `json:"idle,omitempty"`
	Renewal Duration `json:"renewal,omitempty"`
	// Servers is PerRequest of a driver that launches a server for each request.
	Servers Sharing `json:"servers,omitempty"`
	// Reconnects is ByItself of a host that must replace the lost server of an open session without being asked.
	Reconnects Reconnects `json:"reconnects,omitempty"`
}

// Limits are the numbers that the laws are judged by.
type Limits struct {
	Settle  Duration `json:"settle"`  // L1-L4: how long after a checkpoint begins a server may still be there
	Confirm Duration `json:"confirm"` // how long after that a survivor is watched before it is called leaked, not late
	Quiet   Duration `json:"quiet"`   // how long a clean state must hold before a checkpoint ends early

	Close            Duration            `json:"close"`                      // L8: one orderly close
	Stop             Duration            `json:"stop"`                       // L8: the host's orderly end
	SpawnsPerSession int                 `json:"spawns_per_session"`         // L7; 0: not judged
	SpawnsPerMinute  int                 `json:"spawns_per_minute"`          // L7, over the run of a label; 0: not judged
	GrowthPerCycle   int64               `json:"growth_per_cycle,omitempty"` // L6: bytes; 0: not judged
	Grace            Duration            `json:"grace,omitempty"`            // L9: the least for a server's cleanup; 0: only the order counts
	NoFile           int                 `json:"nofile,omitempty"`           // open files of the host (RLIMIT_NOFILE); 0: as many as the bench
	Severity         map[string]Severity `json:"severity,omitempty"`         // by law: how a breach counts; default error, L5, L6, L9 warning
	Patience         Duration            `json:"patience,omitempty"`         // how long a patient step waits for the host's own time limit
	// Fast is after how long a checkpoint gives up what is still running, though Settle and Confirm are longer: the user wanted it so, and
	// learns less. A server that was told to end is waited for all the same. 0: it gives nothing up.
	Fast Duration `json:"fast,omitempty"`
	// Controls says that each label that the host launches must have its
	// control in the file. Runs of before there were controls do not say it.
	Controls bool `json:"controls,omitempty"`
}

// FastWait is the least that Limits.Fast is: so long a user who wants a fast answer looks at what is still running.
const FastWait = Duration(2 * time.Second)

// Severity of a finding.
type Severity string

// The severities. Off means that the law is not judged in this scenario.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityOff     Severity = "off"
)

// Plan is what must have happened for a verdict to mean anything.
type Plan struct {
	Labels []PlanLabel `json:"labels"`
	Faults []PlanFault `json:"faults,omitempty"`
	// Checkpoints are the names of the checkpoints of the scenario, in order,
	// the final one included. A run that lacks one is inconclusive.
	Checkpoints []string `json:"checkpoints"`
	// Laws are those that the scenario is about, and Defining is how many steps are: without evidence on each of the
	// laws, and without all of the steps, a run is inconclusive.
	Laws     []string `json:"laws,omitempty"`
	Defining int      `json:"defining,omitempty"`
	// Rows are those of the specification that the scenario plays. They change no outcome.
	Rows []Row `json:"rows,omitempty"`
	// Evidence says that a law is kept only where something shows it. Runs of before that rule do not say it.
	Evidence bool `json:"evidence,omitempty"`
}

// PlanLabel says that a server must be launched at least Launches times.
type PlanLabel struct {
	Label    string `json:"label"`
	Launches int    `json:"launches"`
}

// PlanFault is a fault of a script. Launch is 0 where the fault is for every
// launch, or for every Nth (Every). Fires is how often it must be seen.
type PlanFault struct {
	Label  string `json:"label"`
	On     Moment `json:"on"`
	Do     Action `json:"do"`
	Launch int    `json:"launch,omitempty"`
	Every  int    `json:"every,omitempty"`
	// Probability is set where only some of those launches do it. Which ones
	// follows from the seed, and Fires already counts no others.
	Probability float64 `json:"probability,omitempty"`
	Fires       int     `json:"fires"` // at least; 0 for a passive fault (ignore EOF): reported, not required
}
