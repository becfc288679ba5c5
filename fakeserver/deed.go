package fakeserver

// deed is one thing that can be done wrong. Each has a file of its own.
type deed struct {
	name string
	text string
	on   []string // the moments it goes with
	// field is the field of a Fault that this deed alone uses, as in JSON;
	// needed says that it may not be left out.
	field  string
	needed bool
	// decides says that the deed settles what becomes of the moment, so that
	// two such at one moment contradict each other.
	decides bool
	breaks  func(on string) bool // nil: never

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

// allDeeds is every deed there is. It is a function, not a variable, because
// deeds reach the server and the server reaches its deeds.
func allDeeds() []deed {
	return []deed{
		rejectDeed(), hangDeed(), garbageDeed(), wrongVersionDeed(), exitDeed(),
		ignoreDeed(), delayDeed(), growDeed(), closeStdoutDeed(),

		launcherDeed(), containerDeed(), helperDeed(), zombiesDeed(), lockDeed(), killSiblingsDeed(), watchdogDeed(),
	}
}

func deedNamed(name string) (deed, bool) {
	for _, d := range allDeeds() {
		if d.name == name {
			return d, true
		}
	}
	return deed{}, false
}

func always(string) bool { return true }

// atHandshake is for deeds that spoil a session only if they spoil its start.
func atHandshake(on string) bool { return on == onDiscover || on == onInitialize }
