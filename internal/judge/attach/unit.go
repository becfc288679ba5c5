package attach

import (
	"math"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
)

// Role is what a process is to the host.
type Role string

// The roles.
const (
	RoleServer   Role = "server"   // it reads what the host writes
	RoleLauncher Role = "launcher" // it has passed its stdin on to what it launched
	RoleHelper   Role = "helper"   // a server, or a launcher, has started it
	RoleOther    Role = "other"    // its stdin is no pipe
	RoleShell    Role = "shell"    // it reads commands, not messages: a shell or an interpreter without a script
	RoleZombie   Role = "zombie"
	RoleUnknown  Role = "?" // what its stdin is was not read
)

// Unit is what was launched with one pipe, or one socket, for its stdin: a server with the launchers before it.
type Unit struct {
	Label      string            `json:"label"`
	PIDs       []int             `json:"pids" jsonschema:"the first one was launched by the host"`
	Generation int               `json:"generation" jsonschema:"1 is the oldest of its command line"`
	Newer      int               `json:"newer" jsonschema:"launches of the same command line since it was used last"`
	Used       bool              `json:"used" jsonschema:"it has read or written while it was watched, and within idle_after of its command line before the last look"`
	Kind       string            `json:"kind,omitempty"`
	Members    []*Child          `json:"-"`
	Born       int64             `json:"-"`
	Quiet      int64             `json:"-"` // since when it has neither read nor written
	QuietKnown bool              `json:"-"`
	Identities []record.Identity `json:"-"`
	line       string
	group      *Group
	shell      bool // it is a task of the host, not a server
	talked     bool // it has read or written while it was watched
	worked     bool // it was used beyond its handshake
	next       int  // the first unit of its group that has taken its place; as many as there are: none
}

// Generations is how many generations there are of its command line.
func (u *Unit) Generations() int { return u.group.Generations }

// Alive says that something of it runs.
func (u *Unit) Alive() bool {
	return slices.ContainsFunc(u.Members, func(ch *Child) bool { return ch.alive() })
}

func (ch *Child) alive() bool { return ch.died == never && ch.State != record.StateZombie }

// usedUntil is a time up to which something of it was in use for certain.
func (u *Unit) usedUntil() int64 {
	at := u.Born
	for _, ch := range u.Members {
		at = max(at, ch.usedUntil())
	}
	return at
}

// spoke is the first look at which something of it had written, or never.
func (u *Unit) spoke() (at int64) {
	at = never
	for _, ch := range u.Members {
		if ch.spoke != never && (at == never || ch.spoke < at) {
			at = ch.spoke
		}
	}
	return at
}

// top is what the host launched, or what is left of it.
func (u *Unit) top() *Child {
	for _, ch := range u.Members {
		if ch.alive() {
			return ch
		}
	}
	return u.Members[0]
}

// died is when the last of it was gone, or never.
func (u *Unit) died() (at int64) {
	for _, ch := range u.Members {
		if ch.alive() {
			return never
		}
		at = max(at, ch.died, ch.zombieSince)
	}
	return at
}

// stray says that it was never seen below the host: it runs what a server of the host runs, below process 1 or another ancestor.
func (u *Unit) stray() bool { return !u.top().wasIn }

// Group is all that was launched with one command line.
type Group struct {
	Label     string          `json:"label"`
	Command   []string        `json:"command" jsonschema:"redacted"`
	Shell     bool            `json:"shell,omitempty" jsonschema:"it reads commands, not messages: a shell or an interpreter without a script, which is no server"`
	Alive     int             `json:"alive"`
	Zombies   int             `json:"zombies,omitempty" jsonschema:"that have ended, and that nobody has waited for"`
	Ended     int             `json:"ended,omitempty" jsonschema:"that have ended while they were watched, and are gone"`
	Used      int             `json:"used" jsonschema:"of those alive, how many were used within idle_after before the last look"`
	IdleAfter record.Duration `json:"idle_after" jsonschema:"how long one must not be used to be called idle: the settle time, or twice as long as the host lets others be idle"`
	// Generations counts the batches in which they were launched.
	Generations int `json:"generations" jsonschema:"batches in which they were launched"`
	// Like is a process of it, where another command line has the same label: the oldest one that is alive.
	Like  int `json:"like_pid,omitempty" jsonschema:"a process of it, where another command line has the same label"`
	units []*Unit
}

// oldest is its first launch that runs, or of none the first one.
func (g *Group) oldest() *Child {
	for _, u := range g.units {
		if u.Alive() {
			return u.top()
		}
	}
	return g.units[0].top()
}

// units puts the processes together that have the same stdin, and says what each process is.
func (w *Watch) units(all []*Child) []*Unit {
	var piped []*Child
	for _, ch := range all {
		ch.Unit, ch.Kind, ch.Note, ch.QuietFor = nil, "", "", nil
		ch.Role = RoleOther
		if isPipe(ch.stdin()) {
			piped = append(piped, ch)
		}
	}
	keys, members := lists.GroupBy(piped, func(ch *Child) string { return ch.stdin().Target })
	var units []*Unit
	for _, key := range keys {
		units = append(units, w.unit(members[key]))
	}
	for _, ch := range all {
		switch {
		case ch.State == record.StateZombie:
			ch.Role = RoleZombie
		case ch.stdin() == nil && (ch.Facts == nil || unseen(ch.Facts, "descriptors")):
			ch.Role = RoleUnknown
		case ch.Unit == nil:
			w.adopt(ch)
		}
		if since, known := ch.quietSince(); known && ch.State != record.StateZombie {
			quiet := record.Duration(max(0, w.to-since))
			ch.QuietFor = &quiet
		}
		ch.FactsAge = record.Duration(max(0, w.to-ch.facts))
	}
	return units
}

func (w *Watch) unit(members []*Child) *Unit {
	top := members[0] // the oldest: children are launched after their parents
	u := &Unit{
		Members: members, Label: labelOf(top.Args, top.Comm), Born: top.Born, line: strings.Join(top.Args, "\x00"), QuietKnown: true,
		Quiet: math.MinInt64,
		shell: readsCommands(top.Args) && !slices.ContainsFunc(members, func(ch *Child) bool { return calledServer(ch.Args) }),
	}
	for _, ch := range members {
		ch.Unit, ch.Role = u, RoleServer
		if slices.ContainsFunc(members, func(o *Child) bool { return o.PPID == ch.PID && o.alive() }) {
			ch.Role = RoleLauncher
		}
		if u.shell {
			ch.Role = RoleHelper // what a shell starts has its stdin
		}
		u.PIDs, u.Identities = append(u.PIDs, ch.PID), append(u.Identities, ch.Identity)
		u.talked = u.talked || ch.talked(w.from)
		if since, known := ch.quietSince(); known {
			u.Quiet = max(u.Quiet, since)
		} else {
			u.QuietKnown = false
		}
	}
	if u.shell {
		top.Role = RoleShell
	}
	u.Quiet = max(u.Quiet, u.Born)
	return u
}

// adopt makes a process the helper of the unit that has started it.
func (w *Watch) adopt(ch *Child) {
	pid := ch.PPID
	for range len(w.parents) {
		above := w.children[w.parents[pid]]
		if above == nil {
			return
		}
		if above.Unit != nil {
			ch.Role = RoleHelper
		}
		pid = above.PPID
	}
}
