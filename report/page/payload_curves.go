package page

import (
	"github.com/leakbench/leakbench/report/model"
)

// curves are the pictures of a run, each with the limit that it is held to.
func (p *payload) curves(s *model.Run) {
	p.countCurve(s)
	p.handleCurve(s)
	p.memoryCurve(s)
}

// line adds a line with a few points, and says whether there was any.
func (p *payload) line(curve *payloadCurve, l payloadLine, points []model.Level) {
	if len(points) == 0 {
		return
	}
	t, v := make([]int64, len(points)), make([]int64, len(points))
	for i, one := range points {
		t[i], v[i] = micro(one.T), one.N
	}
	p.Columns.add(l.Key+".t", t)
	p.Columns.add(l.Key+".v", v)
	curve.Lines = append(curve.Lines, l)
}

// countCurve is how many servers were alive, how many the host was entitled
// to, how many should have been gone, and the zombies.
func (p *payload) countCurve(s *model.Run) {
	var owed, zombies []model.Level
	for _, label := range p.Labels {
		last := int64(0)
		for _, l := range s.Owed(label) {
			owed = append(owed, model.Level{T: l.T, N: l.N - last})
			last = l.N
		}
	}
	alive, over := model.LevelsOf(s.Servers)
	most := 0
	for _, one := range s.History.Samples() {
		zombies = append(zombies, model.Level{T: one.T, N: int64(one.Zombies)})
		most = max(most, one.Zombies)
	}
	curve := payloadCurve{Title: "Servers"}
	p.line(&curve, payloadLine{"alive", "alive", "alive", true}, alive)
	if len(over) > 0 {
		p.line(&curve, payloadLine{"over", "should be gone", "over", true}, over)
	}
	if most > 0 {
		p.line(&curve, payloadLine{"zombies", "zombies", "zombie", false}, zombies)
	}
	p.line(&curve, payloadLine{"owed", "limit: owed to sessions", "limit", true}, model.Sums(owed))
	p.keep(curve)
}

func (p *payload) keep(c payloadCurve) {
	if len(c.Lines) > 0 {
		p.Curves = append(p.Curves, c)
	}
}

// handleCurve is the host's descriptors, against what it had at the first look,
// where they have to return to, and the most that it may have open; and those
// of all servers together.
func (p *payload) handleCurve(s *model.Run) {
	var fds, servers, base, most []model.Level
	for _, one := range s.History.Samples() {
		servers = append(servers, model.Level{T: one.T, N: int64(one.FDs)})
		if one.Host != nil && one.Host.FDs >= 0 {
			fds = append(fds, model.Level{T: one.T, N: int64(one.Host.FDs)})
		}
	}
	if len(fds) < 2 {
		return
	}
	end := fds[len(fds)-1].T
	base = []model.Level{fds[0], {T: end, N: fds[0].N}}
	if n := int64(s.Header.Limits.NoFile); n > 0 {
		most = []model.Level{{T: fds[0].T, N: n}, {T: end, N: n}}
	}
	curve := payloadCurve{Title: "Open descriptors"}
	p.line(&curve, payloadLine{"fds", "host", "host", false}, fds)
	p.line(&curve, payloadLine{"fds.servers", "all servers", "servers", false}, servers)
	p.line(&curve, payloadLine{"fds.base", "limit: host, where they were", "limit", true}, base)
	p.line(&curve, payloadLine{"fds.most", "limit: host, RLIMIT_NOFILE", "limit", true}, most)
	p.keep(curve)
}

// memoryCurve is the memory of the host and of all servers together, and what
// the host may grow to where the scenario limits that.
func (p *payload) memoryCurve(s *model.Run) {
	var host, servers []model.Level
	for _, one := range s.History.Samples() {
		if one.Host != nil {
			host = append(host, model.Level{T: one.T, N: one.Host.RSS >> 12})
		}
		servers = append(servers, model.Level{T: one.T, N: one.RSS >> 12})
	}
	if len(servers) < 2 {
		return
	}
	curve := payloadCurve{Title: "Memory", Unit: "pages"}
	p.line(&curve, payloadLine{"rss.host", "host", "host", false}, host)
	p.line(&curve, payloadLine{"rss.servers", "all servers", "servers", false}, servers)
	p.line(&curve, payloadLine{"rss.limit", "limit: host, by the cycle", "limit", true}, growth(s))
	p.keep(curve)
}

// growth is what the host may have at the end of each cycle, counted from the
// first cycle of a series.
func growth(s *model.Run) []model.Level {
	limit := s.Header.Limits.GrowthPerCycle
	if limit <= 0 {
		return nil
	}
	var out []model.Level
	first, series := int64(0), 0
	for _, look := range s.History.Censuses() {
		if look.Cycle == nil || look.Host == nil {
			continue
		}
		if c := look.Cycle; c.Series != series {
			series, first = c.Series, look.Host.RSS-int64(c.N)*limit
		}
		out = append(out, model.Level{T: look.T, N: (first + int64(look.Cycle.N)*limit) >> 12})
	}
	return out
}
