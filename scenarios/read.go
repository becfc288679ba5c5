package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	maxServers = 64
	maxFaults  = 64
)

// defaults are the limits that a file does not give. They are for a host of
// which nothing is known: the longest teardown of any published client is
// 15 s.
var defaults = record.Limits{
	Settle:  record.Duration(15 * time.Second),
	Confirm: record.Duration(10 * time.Second),
	Quiet:   record.Duration(100 * time.Millisecond),
	Close:   record.Duration(15 * time.Second),
	Stop:    record.Duration(30 * time.Second),

	GrowthPerCycle: 1 << 20,
	Grace:          record.Duration(200 * time.Millisecond),
}

// reader reads the parts of one file.
type reader struct {
	labels []string
	place  string // of the host
}

func readScenario(root *node) *Scenario {
	m, r := root.mapping("a scenario"), &reader{}
	s := &Scenario{
		Name:    m.need("name").name("the name of a scenario"),
		Title:   m.need("title").oneLine("a title", 100),
		About:   m.get("about").text("a paragraph of text"),
		Reports: readReports(m.get("reports")),
		Servers: r.servers(m.need("servers")),
		Place:   readPlace(m.get("host").mapping("host")),
		Limits:  readLimits(m.get("limits").mapping("limits")),
	}
	r.place = s.Place
	lines := r.steps(m.need("steps"), 0)
	m.done()
	if sizeOf(lines) > maxSteps {
		m.at("steps").problem("the steps, written out, are more than %d", maxSteps)
	}
	follow(lines, r)
	if len(root.problems) == 0 { // an impossible repeat is not unrolled
		s.Steps = stepsOf(lines)
		s.checkServers(m)
		played := s.Expand()
		s.checkSpawns(m, played)
		checkNames(root.collector, played)
	}
	return s
}

var reportForm = regexp.MustCompile(`^(R[0-9]{3}|F[1-9][0-9]?)$`)

func readReports(n *node) []string {
	var ids []string
	for _, item := range n.list("reports") {
		id := item.text(`the id of a field report ("R001") or of a failure mode ("F3")`)
		item.shape.like(reportForm)
		switch {
		case item.kind != kindText:
		case !reportForm.MatchString(id):
			item.problem("%q is no id; field reports are R001 and so on, failure modes F1 and so on", clip(id))
		case slices.Contains(ids, id):
			item.problem("%s stands here twice", id)
		}
		ids = append(ids, id)
	}
	return ids
}

// servers reads the servers, which are a mapping of labels.
func (r *reader) servers(n *node) []Server {
	m := n.mapping("servers")
	if n != nil && (n.kind == kindMapping || n.kind == kindNothing) && len(n.pairs) == 0 {
		n.problem("there is no server; a label alone (steady:) is a server that does nothing wrong")
	}
	if m.node == nil {
		return nil
	}
	m.shape.notEmpty()
	m.shape.atMost(maxServers)
	if len(n.pairs) > maxServers {
		n.problem("there are %d servers; there may be at most %d", len(n.pairs), maxServers)
		return nil
	}
	var all []Server
	for _, p := range m.entries() {
		label := p.key.name("a label")
		if label == "" || slices.Contains(r.labels, label) {
			continue
		}
		r.labels = append(r.labels, label)
		all = append(all, readServer(label, p.value))
	}
	return all
}

var eras = []string{fakeserver.EraLegacy, fakeserver.EraLegacyMute, fakeserver.EraModern, fakeserver.EraDual}

func readServer(label string, n *node) Server {
	m := n.mapping("a server")
	s := Server{
		Label:    label,
		Script:   fakeserver.Script{Era: m.get("era").choice("an era", eras...)},
		Optional: m.get("optional").yes(),
	}
	faults := m.get("faults")
	list := faults.list("faults")
	if len(list) > maxFaults {
		m.at("faults").problem("there are %d faults; there may be at most %d", len(list), maxFaults)
		list = nil
	}
	if faults != nil {
		faults.shape.atMost(maxFaults)
	}
	var at []*mapping
	for _, item := range list {
		f, where, ok := readFault(item)
		if ok {
			s.Script.Faults, at = append(s.Script.Faults, f), append(at, where)
		}
	}
	m.done()
	if m.node != nil {
		checkScript(m, s.Script, at)
	}
	return s
}

// readFault reads a fault of a script. It is not ok where a value could not
// be read at all: then there is nothing to check.
func readFault(n *node) (f fakeserver.Fault, m *mapping, ok bool) {
	if n.shape.refersTo("fault") {
		return f, nil, false
	}
	before := len(n.problems)
	m = n.mapping("a fault")
	f = fakeserver.Fault{
		On:     m.need("on").choice("a moment", docNames(fakeserver.Moments)...),
		Do:     m.need("do").choice("a deed", docNames(fakeserver.Deeds)...),
		Launch: m.get("launch").anyWhole("a launch number"),
		Every:  m.get("every").anyWhole("a number of launches"),
		After:  m.get("after").anyWhole("how often the moment passes first"),
		Tool:   m.get("tool").choice("a tool of the fake server", tools...),
	}
	f.Probability = m.get("probability").fraction("a probability")
	readDeed(&f, m)
	return f, m, len(n.problems) == before
}

// readDeed reads what a fault of a script and a break have in common, and
// ends the mapping.
func readDeed(f *fakeserver.Fault, m *mapping) {
	f.For = fakeserver.Duration(m.get("for").duration())
	f.Each = fakeserver.Duration(m.get("each").duration())
	f.MiB = m.get("mib").anyWhole("a size in MiB")
	f.Step = m.get("step").anyWhole("a size in MiB")
	f.Code = m.get("code").anyWhole("an exit status")
	f.As = m.get("as").choice("a way to do it", ways(f.Do)...)
	f.Count = m.get("count").anyWhole("a number of processes")
	// 0 is how a Fault says "not given"; a file that says 0 means something.
	for _, zero := range []struct{ key, least, otherwise string }{
		{"launch", "1 or more", "every launch"},
		{"every", "1 or more", "every launch"},
		{"probability", "more than 0", "always"},
		{"after", "1 or more", "the first one on"},
		{"mib", "1 or more", "no growth"},
		{"step", "1 or more", "1"},
		{"count", "1 or more", "one"},
	} {
		if v := m.find(zero.key); v != nil && (v.scalar == any(uint64(0)) || v.scalar == any(0.0)) {
			v.problem("%s is %s; leave it out for %s", zero.key, zero.least, zero.otherwise)
		}
	}
	m.done()
}

// ways are those of a deed; of one that has none, or is unknown, all there
// are: the fault's check says then what is wrong.
func ways(deed string) []string {
	var all []string
	for _, d := range fakeserver.Deeds {
		if d.Name == deed && len(d.As) > 0 {
			return docNames(d.As)
		}
		all = append(all, docNames(d.As)...)
	}
	return all
}

// checkScript has the fake server check the script, and finds the places of
// what it complains of.
func checkScript(m *mapping, s fakeserver.Script, at []*mapping) {
	alone := make([]bool, len(s.Faults))
	for i, f := range s.Faults {
		alone[i] = checkFault(f, at[i])
	}
	for _, err := range s.Check() {
		var i int
		if _, scanned := fmt.Sscanf(err.Error(), "fault %d (", &i); scanned != nil || i < 1 || i > len(at) {
			m.problem("%v", err)
			continue
		}
		if alone[i-1] { // else it was told above, in more detail
			_, text, _ := strings.Cut(err.Error(), "): ")
			at[i-1].locate(withLines(text, at))
		}
	}
}

var otherFault = regexp.MustCompile(`fault [0-9]+ \(`)

// withLines says of other faults on which line they are, not their number.
func withLines(text string, at []*mapping) string {
	return otherFault.ReplaceAllStringFunc(text, func(s string) string {
		var i int
		if _, err := fmt.Sscanf(s, "fault %d", &i); err != nil || i < 1 || i > len(at) {
			return s
		}
		return fmt.Sprintf("the fault on line %d (", at[i-1].line)
	})
}

// checkFault notes what is wrong with a fault alone, and reports whether
// nothing is.
func checkFault(f fakeserver.Fault, m *mapping) bool {
	err := f.Check()
	if err == nil {
		return true
	}
	all := []error{err}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		all = joined.Unwrap()
	}
	for _, e := range all {
		var inner interface{ Unwrap() []error }
		if errors.As(e, &inner) {
			for _, e := range inner.Unwrap() {
				m.locate(e.Error())
			}
			continue
		}
		m.locate(e.Error())
	}
	return false
}

// locate notes a problem at the key that the message begins with, or at the
// beginning of the mapping.
func (m *mapping) locate(message string) {
	key, _, _ := strings.Cut(strings.SplitN(message, " ", 2)[0], ":")
	m.at(key).problem("%s", message)
}

func docNames(docs []fakeserver.Doc) []string {
	var all []string
	for _, d := range docs {
		all = append(all, d.Name)
	}
	return all
}

func readPlace(m *mapping) string {
	place := m.get("place").choice("a place", PlacePID1, PlaceInit, PlaceSubreaper)
	m.done()
	return place
}

var laws = []string{"L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10"}

const (
	maxSpawns    = 1 << 20
	maxGrowthKiB = 1 << 20
	// minFiles lets a host in Go or Node come up at all.
	minFiles = 32
)

func readLimits(m *mapping) record.Limits {
	l := defaults
	for _, f := range []struct {
		key  string
		into *record.Duration
	}{{"settle", &l.Settle}, {"confirm", &l.Confirm}, {"quiet", &l.Quiet}, {"close", &l.Close}, {"stop", &l.Stop}, {"grace", &l.Grace}} {
		if v := m.get(f.key).duration(); v > 0 {
			*f.into = v
		}
	}
	l.SpawnsPerSession = m.get("spawns_per_session").whole("a number of launches", 1, maxSpawns)
	l.SpawnsPerMinute = m.get("spawns_per_minute").whole("a number of launches", 1, maxSpawns)
	if kib := m.get("kib_per_cycle").whole("a number of KiB", 1, maxGrowthKiB); kib > 0 {
		l.GrowthPerCycle = int64(kib) << 10
	}
	l.NoFile = m.get("nofile").whole("a number of open files", minFiles, maxSpawns)
	l.Severity = readSeverity(m.get("severity").mapping("severity"))
	m.done()
	if m.node != nil && l.Quiet >= l.Settle {
		m.at("quiet").problem("quiet (%v) must be shorter than settle (%v): a checkpoint is over when the settle time is", l.Quiet, l.Settle)
	}
	if m.node != nil && l.Stop < l.Close {
		m.at("stop").problem("stop (%v) must not be shorter than close (%v): a host that stops closes its sessions", l.Stop, l.Close)
	}
	return l
}

func readSeverity(m *mapping) map[string]record.Severity {
	if m.node == nil {
		return nil
	}
	all := map[string]record.Severity{}
	for _, law := range laws {
		if s := m.get(law).choice("a severity", string(record.SeverityError), string(record.SeverityWarning), string(record.SeverityOff)); s != "" {
			all[law] = record.Severity(s)
		}
	}
	m.done()
	return all
}

// checkServers finds servers that the steps forgot.
func (s *Scenario) checkServers(m *mapping) {
	used := map[string]bool{}
	opens := false
	each(s.Steps, func(step Step) {
		used[step.Label] = true
		opens = opens || step.Op == OpOpen || len(step.Jobs) > 0
		for _, j := range step.Jobs {
			used[j.Label] = true
		}
	})
	if !opens { // a play for hosts that launch by themselves
		return
	}
	for _, server := range s.Servers {
		if !used[server.Label] && !server.Optional {
			m.find("servers").key(server.Label).problem("no step has a session with server %s; without one the run would mean nothing (optional: true lets it be)", server.Label)
		}
	}
}

// checkSpawns finds a limit that the steps themselves break.
func (s *Scenario) checkSpawns(m *mapping, played []Step) {
	limit := s.Limits.SpawnsPerSession
	if limit == 0 {
		return
	}
	for session, n := range count(played).perSession {
		if n > limit {
			m.find("limits").key("spawns_per_session").problem("the steps themselves launch a server for session %s %d times", session, n)
			return
		}
	}
}

// checkNames finds a name that is like one that a repeated checkpoint gets.
func checkNames(c *collector, played []Step) {
	seen := map[string]bool{}
	for i := range played {
		step := &played[i]
		if step.Op == OpCheckpoint && seen[step.Name] {
			c.add(step.Line, step.Column, "the checkpoint %s would be there twice once the repeats are written out", step.Name)
		}
		seen[step.Name] = seen[step.Name] || step.Op == OpCheckpoint
	}
}
