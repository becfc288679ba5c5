package fakeserver

import "sync"

// deed is one thing that can be done wrong. Each has a file of its own.
type deed struct {
	name string
	text string
	on   []string // the moments it goes with
	// field is the field of a Fault that this deed uses, as in JSON; needed says
	// that it may not be left out. may are others, which always may.
	field  string
	needed bool
	may    []string
	// decides says that the deed settles what becomes of the moment, so that
	// two such at one moment contradict each other.
	decides bool
	breaks  func(on string) bool // nil: never

	// passable says that a host may get past it all the same: a deed that breaks
	// the session then excuses a host that gives up, and does not keep later
	// faults from happening.
	passable bool
	passive  func(on string) bool // it only refuses to react; nil: never
	// slow says that it takes time, so that it may not hold up the reading;
	// seizes that it is there to do just that: it keeps the first thread.
	slow, seizes bool
	silences     string // a moment that can't come any more after this one, or ""

	as     []Doc  // the ways to do it, the default first
	counts bool   // count says how many
	slot   string // two faults of one slot, at the same launch, contradict each other
	// targets are the pids of other servers that it is about to signal.
	targets func(*server) []int
	// launch does it in the place of commit, for what has to be done before the
	// server is there: by a launcher, with the server's command line. It returns
	// the launcher's exit status.
	launch func(f Fault, argv []string) int
	// commit does it. It runs after the fault was announced. It reports whether
	// the moment is dealt with: true means that the server must not go on as a
	// correct one would.
	commit func(s *server, f Fault, r *request) bool
}

var deedTable struct {
	once sync.Once
	all  []deed
}

// allDeeds is every deed there is. It is a function, and no initialiser of a
// variable, because deeds reach the server and the server reaches its deeds.
func allDeeds() []deed {
	deedTable.once.Do(func() {
		deedTable.all = []deed{
			rejectDeed(), hangDeed(), garbageDeed(), wrongVersionDeed(), exitDeed(),
			ignoreDeed(), delayDeed(), growDeed(), closeStdoutDeed(),
			// What goes over the pipes, and who no longer reads or writes them.
			progressDeed(), bannerDeed(), partialDeed(), badUTF8Deed(), longLineDeed(),
			floodStderrDeed(), stopReadingDeed(), writeDeed(), spinDeed(),
			// What keeps it running, or growing.
			lingerTimerDeed(), lingerSocketDeed(), lingerThreadDeed(), ignoreTermDeed(), swellDeed(),
			// What it does with other processes.
			launcherDeed(), containerDeed(), helperDeed(), zombiesDeed(), lockDeed(), killSiblingsDeed(), watchdogDeed(),
		}
	})
	return deedTable.all
}

func deedNamed(name string) (deed, bool) {
	for _, d := range allDeeds() {
		if d.name == name {
			return d, true
		}
	}
	return deed{}, false
}

func (d deed) uses(field string) bool { return d.field == field || contains(d.may, field) }

func always(string) bool { return true }

// atHandshake is for deeds that spoil a session only if they spoil its start.
func atHandshake(on string) bool { return on == onDiscover || on == onInitialize }

// atHandshakeOrPing is for answers: a host that asks whether a server is well,
// and is told that it is not, may give it up.
func atHandshakeOrPing(on string) bool { return atHandshake(on) || on == onPing }

// atEnd is for deeds that keep alive a server that was asked to end.
func atEnd(on string) bool { return on == onEOF || on == onTerm }
