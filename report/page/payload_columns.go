package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html/template"

	"github.com/leakbench/leakbench/internal/history"
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

// countCurve is how many servers were alive, how many the host was entitled to, how many should have been gone, and the zombies.
func (p *payload) countCurve(s *model.Run) {
	var owed []model.Level
	for _, label := range p.Labels {
		last := int64(0)
		for _, l := range s.Owed(label) {
			owed = append(owed, model.Level{T: l.T, N: l.N - last})
			last = l.N
		}
	}
	alive, over := model.LevelsOf(s.Servers)
	zombies := sampled(s, func(one *history.Sample) int { return one.Zombies })
	curve := payloadCurve{Title: "Servers"}
	p.line(&curve, payloadLine{"alive", "alive", "alive", true}, alive)
	p.line(&curve, payloadLine{"over", "should be gone", "over", true}, over)
	if model.Highest(zombies) > 0 {
		p.line(&curve, payloadLine{"zombies", "zombies", "zombie", false}, zombies)
	}
	p.line(&curve, payloadLine{"owed", "limit: expected", "limit", true}, model.Sums(owed))
	p.keep(curve)
}

// sampled is a number over the censuses, but where it is not known (-1).
func sampled(s *model.Run, of func(*history.Sample) int) (out []model.Level) {
	for _, one := range s.History.Samples() {
		if n := of(&one); n >= 0 {
			out = append(out, model.Level{T: one.T, N: int64(n)})
		}
	}
	return out
}

func hostFDs(one *history.Sample) int {
	if one.Host == nil {
		return -1
	}
	return one.Host.FDs
}

func (p *payload) keep(c payloadCurve) {
	if len(c.Lines) > 0 {
		p.Curves = append(p.Curves, c)
	}
}

// others is what the processes below the subject are called.
func others(s *model.Run) string {
	if isServer(s) {
		return "all that it started"
	}
	return "all servers"
}

// handleCurve is the host's descriptors, against what it had at the first look, where they have to return to, and the
// most that it may have open; and those of all servers together.
func (p *payload) handleCurve(s *model.Run) {
	fds, servers := sampled(s, hostFDs), sampled(s, func(one *history.Sample) int { return one.FDs })
	if len(fds) < 2 {
		return
	}
	var most []model.Level
	end := fds[len(fds)-1].T
	base := []model.Level{fds[0], {T: end, N: fds[0].N}}
	if n := int64(s.Header.Limits.NoFile); n > 0 {
		most = []model.Level{{T: fds[0].T, N: n}, {T: end, N: n}}
	}
	if s.Verdict.Watched != nil { // theirs are looked up at times only
		servers = nil
	}
	curve, subject := payloadCurve{Title: "Open descriptors"}, s.Header.Host.Kind.Subject()
	p.line(&curve, payloadLine{"fds", subject, "host", false}, fds)
	p.line(&curve, payloadLine{"fds.servers", others(s), "servers", false}, servers)
	if isServer(s) {
		base = nil
	}
	p.line(&curve, payloadLine{"fds.base", "limit: " + subject + ", at the start", "limit", true}, base)
	p.line(&curve, payloadLine{"fds.most", "limit: host, RLIMIT_NOFILE", "limit", true}, most)
	p.keep(curve)
}

// memoryCurve is the memory of the host and of all servers together, and what
// the host may grow to where the scenario limits that.
func (p *payload) memoryCurve(s *model.Run) {
	host := sampled(s, func(one *history.Sample) int {
		if one.Host == nil {
			return -1
		}
		return int(one.Host.RSS >> 12)
	})
	servers := sampled(s, func(one *history.Sample) int { return int(one.RSS >> 12) })
	if len(servers) < 2 {
		return
	}
	curve := payloadCurve{Title: "Memory", Unit: "pages"}
	p.line(&curve, payloadLine{"rss.host", s.Header.Host.Kind.Subject(), "host", false}, host)
	p.line(&curve, payloadLine{"rss.servers", others(s), "servers", false}, servers)
	p.line(&curve, payloadLine{"rss.limit", "limit: host, per cycle", "limit", true}, growth(s))
	p.keep(curve)
}

// growth is what the host may have at the end of each cycle, counted from the first cycle of a series.
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

// columns are lists of numbers, each written as the differences of its values in zig-zag varints: what changes slowly
// takes a byte, and a column without a change nothing once it is compressed.
type columns struct {
	Names  []string `json:"names"`
	Counts []int    `json:"counts"`
	data   []byte
}

func (c *columns) add(name string, values []int64) {
	c.Names, c.Counts = append(c.Names, name), append(c.Counts, len(values))
	last := int64(0)
	for _, v := range values {
		c.data = binary.AppendVarint(c.data, v-last)
		last = v
	}
}

// packed is a block of data for the page's script: the length of a JSON object as a varint, the object, then the
// columns; compressed, in base64, whose letters can't be markup.
func packed(meta any, data []byte) (template.HTML, error) {
	head, err := json.Marshal(meta)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return "", err
	}
	for _, part := range [][]byte{binary.AppendUvarint(nil, uint64(len(head))), head, data} {
		if _, err := z.Write(part); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return template.HTML(base64.StdEncoding.EncodeToString(b.Bytes())), nil //nolint:gosec // base64
}
