package history

import (
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
)

// Checkpoint is a checkpoint with what was seen at it. The censuses and their rows are those of a whole run only.
type Checkpoint struct {
	record.Checkpoint
	Begun, SettledAt, ConfirmAt, Ended int64
	BegunIndex, SettledIndex           int            // among the events
	Settled, Confirm                   *record.Census // at quiet, or when the settle time was over; and after the watch
	SettledRows, ConfirmRows           Rows
	Evidence                           map[record.Identity]record.Evidence
}

// EvidenceOn is what was found out about a process at the checkpoint, or nil.
func (cp *Checkpoint) EvidenceOn(id record.Identity) *record.Evidence {
	if e, ok := cp.Evidence[id]; ok {
		return &e
	}
	return nil
}

// Rows are the processes of a census, by identity, and by pid alone for a birth whose process could not be identified.
type Rows map[record.Identity]*record.Process

// RowsOf are the rows of a census.
func RowsOf(c *record.Census) Rows {
	all := make(Rows, 2*len(c.Processes))
	for i := range c.Processes {
		p := &c.Processes[i]
		all[p.Identity] = p
		all[record.Identity{PID: p.PID}] = p
	}
	return all
}

// Alive says that a process is there, and no zombie.
func (r Rows) Alive(id record.Identity) bool {
	p := r[id]
	return p != nil && p.State != record.StateZombie
}

// Below says that a process is below that of a pid.
func (r Rows) Below(p *record.Process, pid int) bool {
	for range len(r) {
		switch {
		case p == nil:
			return false
		case p.PPID == pid:
			return true
		}
		p = r[record.Identity{PID: p.PPID}]
	}
	return false
}

// Look is a census at its time.
type Look struct {
	*record.Census
	T int64
}

// Sample is what a census says of the host and of all that is below it.
type Sample struct {
	T       int64
	Host    *record.Process
	Zombies int
	RSS     int64 // of all below the host, in bytes
	FDs     int   // likewise, of those that could be seen
}

// looks is what the censuses of a whole run show.
type looks struct {
	all         []Look
	samples     []Sample
	zombieSince map[record.Identity]int64
	wrappers    map[int]bool
}

func (h *History) checkpoint(e *record.Event) {
	switch e.Kind {
	case record.CheckpointBegun:
		h.checkpoints = append(h.checkpoints, &Checkpoint{
			Checkpoint: *e.Checkpoint, Begun: e.T, SettledAt: Never, ConfirmAt: Never, Ended: Never,
			BegunIndex: h.n, Evidence: map[record.Identity]record.Evidence{},
		})
	case record.EvidenceTaken:
		if n := len(h.checkpoints); n > 0 {
			for _, ev := range e.Evidence {
				h.checkpoints[n-1].Evidence[ev.Identity] = ev
			}
		}
	case record.CheckpointEnded:
		if cp := h.underWay(e.Checkpoint.Name); cp != nil {
			cp.Ended, cp.Quiet, cp.Waited = e.T, e.Checkpoint.Quiet, e.Checkpoint.Waited
			cp.Stretched, cp.Starved, cp.Early = e.Checkpoint.Stretched, e.Checkpoint.Starved, e.Checkpoint.Early
		}
	}
}

// underWay is the checkpoint of that name that has not ended, or nil.
func (h *History) underWay(name string) *Checkpoint {
	for _, cp := range slices.Backward(h.checkpoints) {
		if cp.Name == name && cp.Ended < 0 {
			return cp
		}
	}
	return nil
}

func (h *History) census(e *record.Event) {
	if e.Census.Role == record.CensusHandover {
		h.handOver(e.Census)
	}
	h.attribute(e.Census)
	if !h.whole {
		return
	}
	h.sample(e)
	cp := h.underWay(e.Census.Checkpoint)
	if cp == nil {
		return
	}
	switch {
	case e.Census.Role == record.CensusSettled && cp.Settled == nil:
		cp.Settled, cp.SettledRows, cp.SettledAt, cp.SettledIndex = e.Census, RowsOf(e.Census), e.T, h.n
	case e.Census.Role == record.CensusConfirm && cp.Settled != nil:
		cp.Confirm, cp.ConfirmRows, cp.ConfirmAt = e.Census, RowsOf(e.Census), e.T
	}
}

func (h *History) sample(e *record.Event) {
	c := e.Census
	s := Sample{T: e.T, Host: c.Host}
	for i := range c.Processes {
		p := &c.Processes[i]
		if p.State == record.StateZombie {
			s.Zombies++
			if _, seen := h.looks.zombieSince[p.Identity]; !seen {
				h.looks.zombieSince[p.Identity] = e.T
			}
		}
		if c.Host == nil || p.Identity != c.Host.Identity {
			s.RSS += p.RSS
			s.FDs += max(p.FDs, 0)
		}
		if len(p.Args) > 0 && CarriesServer(p, h.run) {
			h.looks.wrappers[p.PID] = true
		}
	}
	h.looks.all, h.looks.samples = append(h.looks.all, Look{Census: c, T: e.T}), append(h.looks.samples, s)
}

// Checkpoints are all checkpoints, in the order in which they began.
func (h *History) Checkpoints() []*Checkpoint { return h.checkpoints }

// Censuses are all censuses of a whole run, in their order.
func (h *History) Censuses() []Look { return h.looks.all }

// Samples are what the censuses of a whole run say, one for each.
func (h *History) Samples() []Sample { return h.looks.samples }

// ZombieSince is when a census first showed a process as a zombie, if one did.
func (h *History) ZombieSince(id record.Identity) (t int64, seen bool) {
	t, seen = h.looks.zombieSince[id]
	return t, seen
}

// CarriedServer says that a process of that pid was seen whose command line
// holds that of a fake server: the server itself, or what is in front of it.
func (h *History) CarriedServer(pid int) bool { return h.looks.wrappers[pid] }

// IsServer knows a fake server of a run by its command line, also where its host has moved the flags before the word.
func IsServer(p *record.Process, run string) bool {
	if len(p.Args) < 2 || !slices.Contains(p.Args, run) {
		return false
	}
	flag, _, _ := strings.Cut(p.Args[1], "=")
	return p.Args[1] == "fakeserver" || slices.Contains(serverFlags, flag) && slices.Contains(p.Args, "fakeserver")
}

var serverFlags = []string{"--ledger", "--run", "--label", "--session"}

// CarriesServer says that a command line holds that of a fake server of the run: it is one, or a shell, or a launcher like npx.
func CarriesServer(p *record.Process, run string) bool {
	return run != "" && slices.ContainsFunc(p.Args, func(arg string) bool { return strings.Contains(arg, run) })
}
