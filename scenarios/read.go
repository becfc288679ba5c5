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
	"github.com/leakbench/leakbench/internal/yamlfile"
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
	place  record.Place // of the host
}

func readScenario(root *yamlfile.Node) *Scenario {
	m, r := root.Mapping("a scenario"), &reader{}
	s := &Scenario{
		Name:    m.Need("name").Name("the name of a scenario"),
		Title:   m.Need("title").OneLine("a title", 100),
		About:   m.Get("about").Text("a paragraph of text"),
		Reports: readReports(m.Get("reports")),
		Servers: r.servers(m.Need("servers")),
		Place:   readPlace(m.Get("host").Mapping("host")),
		Limits:  readLimits(m.Get("limits").Mapping("limits")),
	}
	r.place = s.Place
	lines := r.steps(m.Need("steps"), 0)
	m.Done()
	if sizeOf(lines) > maxSteps {
		m.At("steps").Problem("the steps, written out, are more than %d", maxSteps)
	}
	follow(lines, r)
	if len(root.Problems) == 0 { // an impossible repeat is not unrolled
		s.Steps = stepsOf(lines)
		s.checkServers(m)
		played := s.Expand()
		s.checkSpawns(m, played)
		checkNames(root.Collector, played)
	}
	return s
}

var reportForm = regexp.MustCompile(`^(R[0-9]{3}|F[1-9][0-9]?)$`)

func readReports(n *yamlfile.Node) []string {
	var ids []string
	for _, item := range n.List("reports") {
		id := item.Text(`the id of a field report ("R001") or of a failure mode ("F3")`)
		item.Shape.Like(reportForm)
		switch {
		case item.Kind != yamlfile.KindText:
		case !reportForm.MatchString(id):
			item.Problem("%q is no id; field reports are R001 and so on, failure modes F1 and so on", yamlfile.Clip(id))
		case slices.Contains(ids, id):
			item.Problem("%s stands here twice", id)
		}
		ids = append(ids, id)
	}
	return ids
}

// servers reads the servers, which are a mapping of labels.
func (r *reader) servers(n *yamlfile.Node) []Server {
	m := n.Mapping("servers")
	if n != nil && (n.Kind == yamlfile.KindMapping || n.Kind == yamlfile.KindNothing) && len(n.Pairs) == 0 {
		n.Problem("there is no server; a label alone (steady:) is a server that does nothing wrong")
	}
	if m.Node == nil {
		return nil
	}
	m.Shape.NotEmpty()
	m.Shape.AtMost(maxServers)
	if len(n.Pairs) > maxServers {
		n.Problem("there are %d servers; there may be at most %d", len(n.Pairs), maxServers)
		return nil
	}
	var all []Server
	for _, p := range m.Entries() {
		label := p.Key.Name("a label")
		if label == "" || slices.Contains(r.labels, label) {
			continue
		}
		r.labels = append(r.labels, label)
		all = append(all, readServer(label, p.Value))
	}
	return all
}

var eras = []string{fakeserver.EraLegacy, fakeserver.EraLegacyMute, fakeserver.EraModern, fakeserver.EraDual}

func readServer(label string, n *yamlfile.Node) Server {
	m := n.Mapping("a server")
	s := Server{
		Label:    label,
		Script:   fakeserver.Script{Era: m.Get("era").Choice("an era", eras...)},
		Optional: m.Get("optional").Yes(),
	}
	faults := m.Get("faults")
	list := faults.List("faults")
	if len(list) > maxFaults {
		m.At("faults").Problem("there are %d faults; there may be at most %d", len(list), maxFaults)
		list = nil
	}
	if faults != nil {
		faults.Shape.AtMost(maxFaults)
	}
	var at []*yamlfile.Mapping
	for _, item := range list {
		f, where, ok := readFault(item)
		if ok {
			s.Script.Faults, at = append(s.Script.Faults, f), append(at, where)
		}
	}
	m.Done()
	if m.Node != nil {
		checkScript(m, s.Script, at)
	}
	return s
}

// readFault reads a fault of a script. It is not ok where a value could not
// be read at all: then there is nothing to check.
func readFault(n *yamlfile.Node) (f fakeserver.Fault, m *yamlfile.Mapping, ok bool) {
	if n.Shape.RefersTo("fault") {
		return f, nil, false
	}
	before := len(n.Problems)
	m = n.Mapping("a fault")
	f = fakeserver.Fault{
		On:     m.Need("on").Choice("a moment", docNames(fakeserver.Moments)...),
		Do:     m.Need("do").Choice("a deed", docNames(fakeserver.Deeds)...),
		Launch: m.Get("launch").AnyWhole("a launch number"),
		Every:  m.Get("every").AnyWhole("a number of launches"),
		After:  m.Get("after").AnyWhole("how often the moment passes first"),
		Tool:   m.Get("tool").Choice("a tool of the fake server", tools...),
	}
	f.Probability = m.Get("probability").Fraction("a probability")
	readDeed(&f, m)
	return f, m, len(n.Problems) == before
}

// readDeed reads what a fault of a script and a break have in common, and
// ends the mapping.
func readDeed(f *fakeserver.Fault, m *yamlfile.Mapping) {
	f.For = fakeserver.Duration(m.Get("for").Duration())
	f.Each = fakeserver.Duration(m.Get("each").Duration())
	f.MiB = m.Get("mib").AnyWhole("a size in MiB")
	f.Step = m.Get("step").AnyWhole("a size in MiB")
	f.Code = m.Get("code").AnyWhole("an exit status")
	f.As = m.Get("as").Choice("a way to do it", ways(f.Do)...)
	f.Count = m.Get("count").AnyWhole("a number of processes")
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
		if v := m.Find(zero.key); v != nil && (v.Scalar == any(uint64(0)) || v.Scalar == any(0.0)) {
			v.Problem("%s is %s; leave it out for %s", zero.key, zero.least, zero.otherwise)
		}
	}
	m.Done()
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
func checkScript(m *yamlfile.Mapping, s fakeserver.Script, at []*yamlfile.Mapping) {
	alone := make([]bool, len(s.Faults))
	for i, f := range s.Faults {
		alone[i] = checkFault(f, at[i])
	}
	for _, err := range s.Check() {
		var i int
		if _, scanned := fmt.Sscanf(err.Error(), "fault %d (", &i); scanned != nil || i < 1 || i > len(at) {
			m.Problem("%v", err)
			continue
		}
		if alone[i-1] { // else it was told above, in more detail
			_, text, _ := strings.Cut(err.Error(), "): ")
			at[i-1].Locate(withLines(text, at))
		}
	}
}

var otherFault = regexp.MustCompile(`fault [0-9]+ \(`)

// withLines says of other faults on which line they are, not their number.
func withLines(text string, at []*yamlfile.Mapping) string {
	return otherFault.ReplaceAllStringFunc(text, func(s string) string {
		var i int
		if _, err := fmt.Sscanf(s, "fault %d", &i); err != nil || i < 1 || i > len(at) {
			return s
		}
		return fmt.Sprintf("the fault on line %d (", at[i-1].Line)
	})
}

// checkFault notes what is wrong with a fault alone, and reports whether
// nothing is.
func checkFault(f fakeserver.Fault, m *yamlfile.Mapping) bool {
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
				m.Locate(e.Error())
			}
			continue
		}
		m.Locate(e.Error())
	}
	return false
}

func docNames(docs []fakeserver.Doc) []string {
	var all []string
	for _, d := range docs {
		all = append(all, d.Name)
	}
	return all
}

// choice is a word of a vocabulary.
func choice[W ~string](n *yamlfile.Node, what string, allowed ...W) W {
	words := make([]string, len(allowed))
	for i, w := range allowed {
		words[i] = string(w)
	}
	return W(n.Choice(what, words...))
}

func readPlace(m *yamlfile.Mapping) record.Place {
	place := choice(m.Get("place"), "a place", record.PlacePID1, record.PlaceInit, record.PlaceSubreaper)
	m.Done()
	return place
}

var laws = []string{"L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10"}

const (
	maxSpawns    = 1 << 20
	maxGrowthKiB = 1 << 20
	// minFiles lets a host in Go or Node come up at all.
	minFiles = 32
)

func readLimits(m *yamlfile.Mapping) record.Limits {
	l := defaults
	for _, f := range []struct {
		key  string
		into *record.Duration
	}{{"settle", &l.Settle}, {"confirm", &l.Confirm}, {"quiet", &l.Quiet}, {"close", &l.Close}, {"stop", &l.Stop}, {"grace", &l.Grace}} {
		if v := m.Get(f.key).Duration(); v > 0 {
			*f.into = v
		}
	}
	l.SpawnsPerSession = m.Get("spawns_per_session").Whole("a number of launches", 1, maxSpawns)
	l.SpawnsPerMinute = m.Get("spawns_per_minute").Whole("a number of launches", 1, maxSpawns)
	if kib := m.Get("kib_per_cycle").Whole("a number of KiB", 1, maxGrowthKiB); kib > 0 {
		l.GrowthPerCycle = int64(kib) << 10
	}
	l.NoFile = m.Get("nofile").Whole("a number of open files", minFiles, maxSpawns)
	l.Severity = readSeverity(m.Get("severity").Mapping("severity"))
	m.Done()
	if m.Node != nil && l.Quiet >= l.Settle {
		m.At("quiet").Problem("quiet (%v) must be shorter than settle (%v): a checkpoint is over when the settle time is", l.Quiet, l.Settle)
	}
	if m.Node != nil && l.Stop < l.Close {
		m.At("stop").Problem("stop (%v) must not be shorter than close (%v): a host that stops closes its sessions", l.Stop, l.Close)
	}
	return l
}

func readSeverity(m *yamlfile.Mapping) map[string]record.Severity {
	if m.Node == nil {
		return nil
	}
	all := map[string]record.Severity{}
	for _, law := range laws {
		if s := m.Get(law).Choice("a severity", string(record.SeverityError), string(record.SeverityWarning), string(record.SeverityOff)); s != "" {
			all[law] = record.Severity(s)
		}
	}
	m.Done()
	return all
}

// checkServers finds servers that the steps forgot.
func (s *Scenario) checkServers(m *yamlfile.Mapping) {
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
			m.Find("servers").Key(server.Label).Problem("no step has a session with server %s; without one the run would mean nothing (optional: true lets it be)", server.Label)
		}
	}
}

// checkSpawns finds a limit that the steps themselves break.
func (s *Scenario) checkSpawns(m *yamlfile.Mapping, played []Step) {
	limit := s.Limits.SpawnsPerSession
	if limit == 0 {
		return
	}
	for session, n := range count(played).perSession {
		if n > limit {
			m.Find("limits").Key("spawns_per_session").Problem("the steps themselves launch a server for session %s %d times", session, n)
			return
		}
	}
}

// checkNames finds a name that is like one that a repeated checkpoint gets.
func checkNames(c *yamlfile.Collector, played []Step) {
	seen := map[string]bool{}
	for i := range played {
		step := &played[i]
		if step.Op == OpCheckpoint && seen[step.Name] {
			c.Add(step.Line, step.Column, "the checkpoint %s would be there twice once the repeats are written out", step.Name)
		}
		seen[step.Name] = seen[step.Name] || step.Op == OpCheckpoint
	}
}
