package fakeserver

import (
	"slices"

	"github.com/leakbench/leakbench/internal/lists"
)

// action is one thing that can be done wrong. The files actions_*.go have tables of them.
type action struct {
	name string
	text string
	on   []string // the moments it goes with
	// needs is the field of a Fault that it can't do without, takes are others
	// that it has a use for. Each action that has ways takes as.
	needs  string
	takes  []string
	except exception
	// decides says that the action settles what becomes of the moment: the server does not go on as a correct one
	// would, and two such at one moment contradict each other.
	decides bool
	breaks  func(on string) bool // nil: never

	// passable says that a host may get past it all the same: an action that breaks the session then excuses a host
	// that gives up, and does not keep later faults from happening.
	passable bool
	passive  func(on string) bool // it only refuses to react; nil: never
	// slow says that it takes time, so that it may not hold up the reading;
	// seizes that it is there to do just that: it keeps the first thread.
	slow, seizes bool
	starts       bool   // it starts processes: one that was announced is there, also where the server ends meanwhile
	silences     string // a moment that can't come any more after this one, or ""

	as   []Doc  // the ways to do it, the default first
	slot string // two faults of one slot, at the same launch, contradict each other
	// targets are the pids of other servers that it is about to signal.
	targets func(*server) []int
	// launch does it in the place of commit, for what has to be done before the server is there: by a launcher, with
	// the server's command line. It returns the launcher's exit status.
	launch func(f Fault, argv []string) int
	// commit does it. It runs after the fault was announced.
	commit func(s *server, f Fault, r *request)
}

// actions are all that there are, Actions what is said of them.
var (
	actions []action
	Actions []Doc // the values of Fault.Do
)

// Moments are the values of Fault.On, in the order of a server's life.
var Moments = []Doc{
	{Name: onStart, Text: "before it reads stdin"},
	{Name: onDiscover, Text: "when it receives server/discover"},
	{Name: onInitialize, Text: "when it receives initialize"},
	{Name: onList, Text: "when it receives tools/list"},
	{Name: onListResources, Text: "when it receives resources/list"},
	{Name: onListPrompts, Text: "when it receives prompts/list"},
	{Name: onCall, Text: "when it receives tools/call (of one tool, with tool)"},
	{Name: onPing, Text: "when it receives ping"},
	{Name: onEPIPE, Text: "when a write to stdout fails because the read end is closed"},
	{Name: onEOF, Text: "when it reads stdin EOF"},
	{Name: onTerm, Text: "when it receives SIGTERM, SIGINT or SIGHUP"},
	{Name: onExit, Text: "when it is about to exit, after stdin EOF or a signal"},
	{Name: onOrder, Text: "when the scenario says so (a break step); not in a script"},
}

// listActions fills the tables of actions, and says which go with which moments. They have no initialisers because
// actions reach the server and the server reaches its actions.
func listActions() {
	actions = slices.Concat(answerActions, listActs, pipeActions, stayActions, processActions)
	for _, a := range actions {
		Actions = append(Actions, Doc{Name: a.name, Text: a.text, With: a.on, As: a.as, Needs: a.needs})
	}
	for i := range Moments {
		m := &Moments[i]
		for _, a := range actions {
			if slices.Contains(a.on, m.Name) {
				m.With = append(m.With, a.name)
			}
		}
	}
}

// action is what the fault does; the zero action where there is none of the name.
func (f Fault) action() action {
	for _, a := range actions {
		if a.name == f.Do {
			return a
		}
	}
	return action{}
}

func (a action) has(field string) bool {
	return a.needs == field || contains(a.takes, field) || field == "as" && len(a.as) > 0
}

// exception is a moment at which an action has no use for a field of its own.
type exception struct{ field, on, why string }

func always(string) bool { return true }

// atHandshake is for actions that spoil a session only if they spoil its start.
func atHandshake(on string) bool { return on == onDiscover || on == onInitialize }

// whereHostsGiveUp is for answers: a host that asks whether a server is well, and is told that it is not, may give it up. So may one that
// offers the tools of a server and does not get their list.
func whereHostsGiveUp(on string) bool {
	return atHandshake(on) || on == onPing || contains(listMoments, on)
}

// atEnd is for actions that keep alive a server that was asked to end.
func atEnd(on string) bool { return on == onEOF || on == onTerm }

// The moments at which a server can do something wrong.
const (
	onStart         = "start"
	onDiscover      = "discover"
	onInitialize    = "initialize"
	onList          = "list"
	onListResources = "list-resources"
	onListPrompts   = "list-prompts"
	onCall          = "call"
	onPing          = "ping"
	onEPIPE         = "epipe"
	onEOF           = "eof"
	onTerm          = "term"
	onExit          = "exit"
	onOrder         = "order"
)

// Doc describes a moment or an action. With names what it goes with: the actions of a moment, the moments of an action.
type Doc struct {
	Name  string
	Text  string
	With  []string
	As    []Doc  // the ways of an action, the default first
	Needs string // the field that an action can't do without, or ""
}

// Names are the names of what is described.
func Names(docs []Doc) []string { return lists.Map(docs, func(d Doc) string { return d.Name }) }
