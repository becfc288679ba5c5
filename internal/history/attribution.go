package history

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// Part is what a process below the keeper is a part of.
type Part int

// The parts. What is none of them is not known to belong to anything.
const (
	PartUnknown  Part = iota
	PartHost          // the host, or a process that it had before it was asked for anything
	PartServer        // a fake server
	PartLauncher      // it stands between the host and a server
	PartHelper        // a server or its launcher has started it
)

// Attribution is what a process belongs to. It is made when the process is first seen and kept: a launcher that has
// turned into something else, and a helper whose server is gone, are what they were.
type Attribution struct {
	Part   Part
	Server *Server // that it is, has launched, or helps; nil for parts of the host and unknown ones
	Near   *Server // of an unknown one: the newest server that is older than it, or nil
	// Direct, of a helper, says that the server itself has started it, and not what launched the server: that may be the host.
	Direct bool
}

// Stray is a process that is no server and should be gone with its session.
type Stray struct {
	record.Process
	Attribution
}

// attributions are what is known of processes that are no servers.
type attributions struct {
	of     map[record.Identity]Attribution
	own    map[int][]record.Identity // what each life of the host had at its start
	byPPID map[int][]*Server         // by the parent at birth
}

func newAttributions() attributions {
	return attributions{of: map[record.Identity]Attribution{}, own: map[int][]record.Identity{}, byPPID: map[int][]*Server{}}
}

// Attributed says that the processes of a life of the host can be attributed: it was seen what the host had when it had come up.
func (h *History) Attributed(life int) bool {
	_, known := h.parts.own[life]
	return known
}

// AttributionOf is what a process belongs to.
func (h *History) AttributionOf(id record.Identity) Attribution {
	if s := h.ServerOf(id); s != nil {
		return Attribution{Part: PartServer, Server: s}
	}
	if h.isHost(id) {
		return Attribution{Part: PartHost}
	}
	return h.parts.of[id]
}

func (h *History) isHost(id record.Identity) bool {
	return slices.ContainsFunc(h.hosts, func(host *Host) bool { return host.Identity == id })
}

// attribute takes in the rows of a census.
func (h *History) attribute(c *record.Census) {
	rows := make(map[int]*record.Process, len(c.Processes))
	for i := range c.Processes {
		rows[c.Processes[i].PID] = &c.Processes[i]
	}
	if c.Role == record.CensusStarted {
		h.own(c, rows)
	}
	for i := range c.Processes {
		if p := &c.Processes[i]; p.State != record.StateZombie {
			h.launches(p, rows)
		}
	}
	for i := range c.Processes {
		h.place(&c.Processes[i], rows, len(rows))
	}
}

// own has all that is below a host which was not asked for anything yet, but servers and what is below them, be its own.
func (h *History) own(c *record.Census, rows map[int]*record.Process) {
	life := h.Host().N
	h.parts.own[life] = []record.Identity{}
	for i := range c.Processes {
		p := &c.Processes[i]
		_, known := h.parts.of[p.Identity]
		if known || h.left[p.Identity] > 0 || h.isHost(p.Identity) || h.belowServer(p, rows) || CarriesServer(p, h.run) {
			continue
		}
		h.parts.of[p.Identity] = Attribution{Part: PartHost}
		h.parts.own[life] = append(h.parts.own[life], p.Identity)
	}
}

func (h *History) belowServer(p *record.Process, rows map[int]*record.Process) bool {
	for range len(rows) {
		if p == nil {
			return false
		}
		if h.ServerOf(p.Identity) != nil {
			return true
		}
		p = rows[p.PPID]
	}
	return false
}

// launches marks what has launched a server: the process that was its parent at birth, and what stands between that
// and the host. Who has launched servers of several sessions is a part of the host.
func (h *History) launches(p *record.Process, rows map[int]*record.Process) {
	var servers []*Server
	if s := h.ServerOf(p.Identity); s != nil {
		servers, p = []*Server{s}, rows[p.PPID]
	} else {
		servers = slices.DeleteFunc(slices.Clone(h.parts.byPPID[p.PID]), func(s *Server) bool { return s.Birth.Start < p.Start })
	}
	for range len(rows) {
		if len(servers) == 0 || p == nil || h.IsKeeper(p.PID) {
			return
		}
		a := h.AttributionOf(p.Identity)
		if a.Part == PartHost || a.Part == PartServer {
			return
		}
		for _, s := range servers {
			a = a.launched(s)
		}
		h.parts.of[p.Identity] = a
		p = rows[p.PPID]
	}
}

// launched is the attribution of a process that has launched a server, too.
func (a Attribution) launched(s *Server) Attribution {
	if a.Part == PartLauncher && (a.Server.Label != s.Label || a.Server.Session != s.Session) {
		return Attribution{Part: PartHost}
	}
	if a.Part == PartLauncher && a.Server.Launch > s.Launch {
		return a
	}
	return Attribution{Part: PartLauncher, Server: s}
}

// place attributes a process by those above it, by its group, or by its age.
func (h *History) place(p *record.Process, rows map[int]*record.Process, depth int) Attribution {
	a := h.AttributionOf(p.Identity)
	if a.Part != PartUnknown || depth == 0 {
		return a
	}
	if s := h.helped(p); s != nil {
		a = Attribution{Part: PartHelper, Server: s, Direct: true}
	} else if parent := rows[p.PPID]; parent != nil {
		if above := h.place(parent, rows, depth-1); above.Server != nil {
			a = Attribution{Part: PartHelper, Server: above.Server, Direct: above.Direct || above.Part == PartServer}
		}
	}
	if s := h.groupOf(p); a.Part == PartUnknown && s != nil {
		a = Attribution{Part: PartHelper, Server: s, Direct: s.Birth.PGID == s.Birth.PID}
	}
	if a.Part == PartUnknown && a.Near == nil {
		a.Near = h.newestBefore(p)
	}
	h.parts.of[p.Identity] = a
	return a
}

// helped is the server of which a fake helper says that it is its, or nil.
func (h *History) helped(p *record.Process) *Server {
	if len(p.Args) < 2 || p.Args[1] != "fakehelper" || !slices.Contains(p.Args, h.run) {
		return nil
	}
	value := func(flag string) string {
		if i := slices.Index(p.Args, flag); i >= 0 && i+1 < len(p.Args) {
			return p.Args[i+1]
		}
		return ""
	}
	return h.byID[value("--label")+"#"+value("--launch")]
}

// groupOf is the server whose process group, which is none of the host's, a process is in, or nil.
func (h *History) groupOf(p *record.Process) *Server {
	for _, s := range slices.Backward(h.servers) {
		own := s.Birth.PGID == p.PGID && s.Birth.Claimed == 0 && s.Birth.PGID > 1
		if own && !slices.ContainsFunc(h.hosts, func(host *Host) bool { return host.PID == p.PGID || host.PGID == p.PGID }) {
			return s
		}
	}
	return nil
}

// newestBefore is the newest server of this life that is older than a process.
func (h *History) newestBefore(p *record.Process) *Server {
	for _, s := range slices.Backward(h.servers) {
		if s.Life == h.Host().N && cmp.Or(cmp.Compare(s.Birth.Start, p.Start), cmp.Compare(s.Birth.PID, p.PID)) < 0 {
			return s
		}
	}
	return nil
}

// Strays are the processes of a census below a living host that are no servers and should be gone: launchers and
// helpers of servers that have ended and that no want covers, and what the host has started for each session and not
// ended with it. rows are those of the census. A host may start a worker late, and start it anew: of what can't be
// attributed to a server, one more than there are sessions is no stray. Where no sessions are known, only what a server itself
// has started is told from the host's own.
func (h *History) Strays(wants []record.Want, rows []record.Process) []Stray {
	life := h.Host().N
	if !h.Host().Alive() || len(wants) == 0 {
		return nil
	}
	allowed, _ := h.allow(wants)
	var strays, unknown []Stray
	all := RowsOf(&record.Census{Processes: rows})
	for _, p := range rows {
		a := h.AttributionOf(p.Identity)
		switch {
		case p.State == record.StateZombie || h.Leaver(p, all, life) != nil:
		case a.Part == PartLauncher || a.Part == PartHelper:
			if a.Server.Died != Never && a.Server.Life == life && h.isUnwanted(a, wants, allowed) {
				strays = append(strays, Stray{p, a})
			}
		case h.Attributed(life) && h.isPerSession(&p, a, wants):
			unknown = append(unknown, Stray{p, a})
		}
	}
	return append(strays, h.perSession(unknown, allowed, all)...)
}

// isUnwanted says that a launcher or a helper need not be there once its server has ended.
func (h *History) isUnwanted(a Attribution, wants []record.Want, allowed map[*Server]bool) bool {
	if anyNumber(wants, a.Server.Label) {
		return a.Direct
	}
	return h.Attributed(a.Server.Life) && !allowed[a.Server]
}

// isPerSession says that the host may have started a process for a session.
func (h *History) isPerSession(p *record.Process, a Attribution, wants []record.Want) bool {
	return a.Part == PartUnknown && a.Near != nil && !anyNumber(wants, a.Near.Label) && !CarriesServer(p, h.run)
}

// perSession are those that the host has started for sessions which have ended: more of them were started after
// different servers than there are sessions, and than the host had at its start and has lost.
func (h *History) perSession(unknown []Stray, allowed map[*Server]bool, rows Rows) []Stray {
	slots := map[*Server]bool{}
	for _, s := range unknown {
		slots[s.Near] = true
	}
	entitled := 1
	for s := range allowed {
		if s.Alive() {
			entitled++
		}
	}
	for _, id := range h.parts.own[h.Host().N] {
		if !rows.Alive(id) {
			entitled++
		}
	}
	if len(slots) <= entitled {
		return nil
	}
	return slices.DeleteFunc(unknown, func(s Stray) bool { return allowed[s.Near] && s.Near.Alive() })
}

// anyNumber says that no sessions of a label are known.
func anyNumber(wants []record.Want, label string) bool {
	return slices.ContainsFunc(wants, func(w record.Want) bool { return w.Label == label && w.AtMost })
}

// HostParts are the processes of a census that are the host and its own workers.
// Files of before what a host has at its start was looked at have none.
func (h *History) HostParts(rows []record.Process) []record.Process {
	if len(h.parts.own) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rows), func(p record.Process) bool {
		return p.State == record.StateZombie || h.AttributionOf(p.Identity).Part != PartHost
	})
}

// Late is a process that the keeper reaped or swept after the host's exit and that no look had seen.
type Late struct {
	T int64
	record.Process
}

// unseen notes a process that ends after the host and that nobody saw before.
func (h *History) unseen(t int64, p *record.Process) {
	if p != nil && !h.Host().Alive() && h.Host().Started != Never && !h.Knows(p.Identity) {
		h.late = append(h.late, Late{t, *p})
	}
}

// Knows says that the ledger or a census has seen the process, or that it is the host.
func (h *History) Knows(id record.Identity) bool {
	_, seen := h.parts.of[id]
	return seen || h.isHost(id) || h.ServerOf(id) != nil
}

// Late are the processes that the keeper reaped or swept after the host's exit and that no look had seen.
func (h *History) Late() []Late { return h.late }
