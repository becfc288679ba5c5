package live

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Role is what a process is to the host.
type Role string

// The roles.
const (
	RoleServer   Role = "server"   // it reads what the host writes
	RoleLauncher Role = "launcher" // it has passed its stdin on to what it launched
	RoleHelper   Role = "helper"   // a server, or a launcher, has started it
	RoleOther    Role = "other"    // its stdin is no pipe
	RoleZombie   Role = "zombie"
	RoleUnknown  Role = "?" // what its stdin is was not read
)

// Unit is what was launched with one pipe, or one socket, for its stdin: a server with the launchers before it.
type Unit struct {
	Label      string            `json:"label"`
	PIDs       []int             `json:"pids" jsonschema:"the first one was launched by the host"`
	Generation int               `json:"generation" jsonschema:"1 is the oldest of its command line"`
	Newer      int               `json:"newer" jsonschema:"launches of the same command line since it was used last"`
	Used       bool              `json:"used" jsonschema:"it has read or written while it was watched"`
	Kind       string            `json:"kind,omitempty"`
	Members    []*Child          `json:"-"`
	Born       int64             `json:"-"`
	Quiet      int64             `json:"-"` // since when it has neither read nor written
	QuietKnown bool              `json:"-"`
	Identities []record.Identity `json:"-"`
	line       string
	group      *Group
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
func (u *Unit) stray() bool {
	top := u.top()
	return !top.Below && !top.wasIn
}

// Group is all that was launched with one command line.
type Group struct {
	Label       string   `json:"label"`
	Command     []string `json:"command" jsonschema:"redacted"`
	Alive       int      `json:"alive"`
	Used        int      `json:"used" jsonschema:"of those alive, how many have read or written while they were watched"`
	Generations int      `json:"generations" jsonschema:"batches in which they were launched"`
	units       []*Unit
}

// units puts the processes together that have the same stdin, and says what each process is.
func (w *Watch) units(all []*Child) []*Unit {
	var piped []*Child
	for _, ch := range all {
		ch.Unit, ch.Kind, ch.Note = nil, "", ""
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
		case ch.Unit == nil && ch.stdin() == nil && (ch.Facts == nil || unseen(ch.Facts, "descriptors")):
			ch.Role = RoleUnknown
		case ch.Unit == nil:
			w.adopt(ch)
		}
		if since, known := ch.quietSince(); known {
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
		Members: members, Label: labelOf(top.Args, top.Comm), Born: top.Born, line: strings.Join(top.Args, "\x00"), QuietKnown: true, Quiet: math.MinInt64,
	}
	for _, ch := range members {
		ch.Unit, ch.Role = u, RoleServer
		if slices.ContainsFunc(members, func(o *Child) bool { return o.PPID == ch.PID && o != ch && o.alive() }) {
			ch.Role = RoleLauncher
		}
		u.PIDs, u.Identities = append(u.PIDs, ch.PID), append(u.Identities, ch.Identity)
		u.Used = u.Used || ch.talked(w.from)
		if since, known := ch.quietSince(); known {
			u.Quiet = max(u.Quiet, since)
		} else {
			u.QuietKnown = false
		}
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
			return
		}
		pid = above.PPID
	}
}

// interpreters are programs whose first argument that is no flag says more than they do.
var interpreters = []string{"node", "nodejs", "bun", "deno", "python", "python3", "ruby", "java", "sh", "bash", "dash", "npx", "npm", "uvx", "uv", "env", "docker", "pnpm", "bunx"}

const maxLabel = 40

// labelOf is a short name for a command line: the same for each launch of it, without what is only of one machine.
func labelOf(args []string, comm string) string {
	if len(args) == 0 {
		return cmp.Or(comm, "?")
	}
	label := path.Base(args[0])
	if !slices.Contains(interpreters, strings.TrimRight(label, ".0123456789")) && !slices.Contains(interpreters, label) {
		return label
	}
	for i, arg := range args[1:] {
		switch {
		case slices.Contains(programText, arg): // what follows is a program, not the name of one
			return label + " " + arg
		case arg == "-m" && i+2 < len(args):
			return label + " " + text.Clip(args[i+2], maxLabel, "…")
		case arg == "" || strings.HasPrefix(arg, "-") || strings.Contains(arg, "="): // flags, and what env sets
		default:
			return label + " " + text.Clip(path.Base(arg), maxLabel, "…")
		}
	}
	return label
}

// programText are flags of interpreters after which a program stands.
var programText = []string{"-c", "-e", "-p", "-lc", "-ec", "-uc", "--eval", "--print"}
