package scenarios

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

const (
	maxServers = 64
	maxFaults  = 64
)

// defaults are the limits that a file does not give. They are for a host of which nothing is known: the longest
// teardown of any published client is 15 s.
var defaults = record.Limits{
	Settle:  record.Duration(15 * time.Second),
	Confirm: record.Duration(10 * time.Second),
	Quiet:   record.Duration(100 * time.Millisecond),
	Close:   record.Duration(15 * time.Second),
	Stop:    record.Duration(30 * time.Second),

	GrowthPerCycle: 1 << 20,
	Grace:          record.Duration(200 * time.Millisecond),
}

// defaultPatience is longer than the longest time limit of a published client, 60 s.
const defaultPatience = record.Duration(75 * time.Second)

// Defaults are the limits of a scenario that gives none.
func Defaults() record.Limits { return defaults }

// reader reads the parts of one file.
type reader struct {
	labels []string
	place  record.Place // of the host
}

func (s *Scenario) read(root *yamlfile.Node) {
	var steps []Step
	r := &reader{}
	s.Limits = defaults
	r.scenario(s, &steps).Read(root)
	r.place = s.Place
	if sizeOf(steps) > maxSteps {
		root.Key("steps").Problem("the steps, with repeats written out, are more than %d", maxSteps)
	}
	follow(steps, r)
	if len(root.Problems) == 0 { // an impossible repeat is not unrolled
		bare(steps)
		s.Steps = steps
		s.Limits.Patience = patienceOf(steps, s.Limits.Patience)
		s.checkServers(root)
		played := s.Expand()
		s.checkSpawns(root, played)
		checkNames(root.Collector, played)
	}
}

// bare takes the places in the file off the steps: they are the reader's.
func bare(steps []Step) {
	for i := range steps {
		steps[i].m, steps[i].subject = nil, nil
		for _, lane := range steps[i].lanes() {
			bare(lane)
		}
	}
}

// scenario is the whole file.
func (r *reader) scenario(s *Scenario, steps *[]Step) yamlfile.Value {
	return yamlfile.Object("a scenario",
		yamlfile.Need("name", "also the file's name, without .yaml", yamlfile.Name(&s.Name, "the name of a scenario")),
		yamlfile.Need("title", "one line that says what happens", yamlfile.OneLine(&s.Title, "a title", 100)),
		yamlfile.May("about", "a paragraph: what it reproduces, and what a correct host does", yamlfile.Text(&s.About, "a paragraph of text")),
		yamlfile.May("reports", "what it reproduces: R001 is a field report, F3 a failure mode", reports(&s.Reports)),
		yamlfile.May("laws", "the laws it is about: a run is clean only if each of them was shown to be kept", laws(&s.Laws)),
		yamlfile.May("level",
			"what it asks of a host. orderly: what any client must do when it is closed; stubborn: servers that do not obey; "+
				"sudden: the host or its client disappears suddenly. It does not change the verdict",
			yamlfile.Choice(&s.Level, "a level", record.Levels()...)),
		yamlfile.May("rows", "rows of the specification for clients over stdio that it covers; they change no verdict", rows(&s.Rows)),
		yamlfile.May("tags", "names to choose it by, with --tag", tags(&s.Tags)),
		yamlfile.Need("servers", "the fake servers by label; a label alone is a server without faults", r.servers(&s.Servers)),
		yamlfile.May("host", "where the host runs (default: directly below leakbench)", yamlfile.Object("host",
			yamlfile.May("place", "pid-1: process 1 of a PID namespace of its own; init: below an init in one; subreaper: below another subreaper. "+
				"Where the machine does not allow this, the run is inconclusive and says why",
				yamlfile.Choice(&s.Place, "a place", record.PlacePID1, record.PlaceInit, record.PlaceSubreaper)))),
		yamlfile.May("limits", "the limits that the laws are judged by", limits(&s.Limits)),
		yamlfile.Need("steps", "the steps, one after the other", r.steps(steps, 0)),
	)
}

var reportForm = regexp.MustCompile(`^(R[0-9]{3}|F[1-9][0-9]?)$`)

func reports(into *[]string) yamlfile.Value {
	return yamlfile.List(into, "reports", func(id *string) yamlfile.Value {
		return yamlfile.Text(id, `the id of a field report ("R001") or of a failure mode ("F3")`).Like(reportForm).Then(func(n *yamlfile.Node) {
			switch {
			case n.Kind != yamlfile.KindText:
			case !reportForm.MatchString(*id):
				n.Problem("%q is not an id; field reports are R001 and so on, failure modes F1 and so on", yamlfile.Clip(*id))
			case slices.Contains(*into, *id):
				n.Problem("%s appears twice", *id)
			}
		})
	})
}

func tags(into *[]string) yamlfile.Value {
	return yamlfile.List(into, "tags", func(tag *string) yamlfile.Value {
		return yamlfile.Name(tag, "a tag").Then(func(n *yamlfile.Node) {
			if *tag != "" && slices.Contains(*into, *tag) {
				n.Problem("%s appears twice", *tag)
			}
		})
	})
}

func laws(into *[]string) yamlfile.Value { return choices(into, "laws", "a law", law.IDs()) }

func rows(into *[]record.Row) yamlfile.Value { return choices(into, "rows", "a row", record.Rows()) }

// choices is a list of words, each at most once.
func choices[T ~string](into *[]T, what, one string, of []T) yamlfile.Value {
	return yamlfile.List(into, what, func(word *T) yamlfile.Value {
		return yamlfile.Choice(word, one, of...).Then(func(n *yamlfile.Node) {
			if *word != "" && slices.Contains(*into, *word) {
				n.Problem("%s appears twice", *word)
			}
		})
	})
}

// servers is a mapping of labels.
func (r *reader) servers(into *[]Server) yamlfile.Value {
	return yamlfile.Map("servers", func(key *yamlfile.Node) yamlfile.Value {
		var s Server
		yamlfile.Name(&s.Label, "a label").Read(key)
		if key != nil && (s.Label == "" || slices.Contains(r.labels, s.Label)) {
			return yamlfile.Value{}
		}
		r.labels = append(r.labels, s.Label)
		return server(&s).Then(func(*yamlfile.Node) { *into = append(*into, s) })
	}).AtMost(maxServers, func(n *yamlfile.Node, count int) {
		n.Problem("there are %d servers; the limit is %d", count, maxServers)
	}).NotEmpty("there is no server; a label alone (steady:) is a server that does nothing wrong")
}

func server(s *Server) yamlfile.Value {
	var written []writtenFault
	faults := yamlfile.List(&written, "faults", (*writtenFault).value).AtMost(maxFaults, func(n *yamlfile.Node, count int) {
		n.KeyProblem("there are %d faults; the limit is %d", count, maxFaults)
	})
	return yamlfile.Object("a server",
		yamlfile.May("era", "which protocol it speaks: legacy (the default) has initialize and refuses server/discover, "+
			"legacy-mute does not answer server/discover, modern has no initialize, dual has both",
			yamlfile.Choice(&s.Script.Era, "an era", fakeserver.EraLegacy, fakeserver.EraLegacyMute, fakeserver.EraModern, fakeserver.EraDual)),
		yamlfile.May("optional", "a run is conclusive even if the host never launches it", yamlfile.Yes(&s.Optional)),
		yamlfile.May("faults", "what it does wrong, and when", faults),
	).Says("a fake server").Then(func(m *yamlfile.Node) {
		written = slices.DeleteFunc(written, func(f writtenFault) bool { return !f.ok })
		for _, f := range written {
			s.Script.Faults = append(s.Script.Faults, f.Fault)
		}
		place(checkScript(s.Script), m, written)
	})
}

const (
	maxSpawns    = 1 << 20
	maxGrowthKiB = 1 << 20
	// minFiles lets a host in Go or Node come up at all.
	minFiles = 32
)

func limits(l *record.Limits) yamlfile.Value {
	kib := 0
	return yamlfile.Object("limits",
		yamlfile.May("settle", "how long after a checkpoint begins a process that should be gone may still be there", yamlfile.Time(&l.Settle)),
		yamlfile.May("confirm", "how long survivors are watched after that; one that exits in this time is late, any other is leaked",
			yamlfile.Time(&l.Confirm)),
		yamlfile.May("quiet", "how long the right state must hold before a checkpoint ends early; shorter than settle", yamlfile.Time(&l.Quiet)),
		yamlfile.May("close", "how long an orderly close may take", yamlfile.Time(&l.Close)),
		yamlfile.May("stop", "how long stopping the host may take; not shorter than close", yamlfile.Time(&l.Stop)),
		yamlfile.May("grace", "", yamlfile.Time(&l.Grace)),
		yamlfile.May("patience", "how long a patient step waits for the host's own time limit (default 75s)", yamlfile.Time(&l.Patience)),
		yamlfile.May("spawns_per_session", "how many launches are allowed per session, reconnects included; not judged if absent",
			yamlfile.Whole(&l.SpawnsPerSession, "a number of launches", 1, maxSpawns)),
		yamlfile.May("spawns_per_minute", "how many launches of one label are allowed per minute; not judged if absent",
			yamlfile.Whole(&l.SpawnsPerMinute, "a number of launches", 1, maxSpawns)),
		yamlfile.May("kib_per_cycle", "", yamlfile.Whole(&kib, "a number of KiB", 1, maxGrowthKiB).Then(func(*yamlfile.Node) {
			l.GrowthPerCycle = int64(kib) << 10
		})),
		yamlfile.May("nofile", "how many files the host may have open (default: the limit of leakbench itself)",
			yamlfile.Whole(&l.NoFile, "a number of open files", minFiles, maxSpawns)),
		yamlfile.May("severity", "severity of a breach of a law (default error)", severity(&l.Severity)),
	).Then(func(m *yamlfile.Node) {
		if l.Quiet >= l.Settle {
			m.Key("quiet").Problem("quiet (%v) must be shorter than settle (%v): a checkpoint is over when the settle time is",
				l.Quiet.D(), l.Settle.D())
		}
		if l.Stop < l.Close {
			m.Key("stop").Problem("stop (%v) must not be shorter than close (%v): a host that stops closes its sessions", l.Stop.D(), l.Close.D())
		}
	})
}

func severity(into *map[string]record.Severity) yamlfile.Value {
	all := map[string]record.Severity{}
	var keys []yamlfile.Key
	for _, id := range law.IDs() {
		var s record.Severity
		v := yamlfile.Choice(&s, "a severity", record.SeverityError, record.SeverityWarning, record.SeverityOff)
		keys = append(keys, yamlfile.May(id, "", v.Then(func(*yamlfile.Node) { all[id] = s })))
	}
	return yamlfile.Object("severity", keys...).Then(func(*yamlfile.Node) { *into = all })
}

// checkServers finds servers that the steps forgot.
func (s *Scenario) checkServers(m *yamlfile.Node) {
	used := map[string]bool{}
	opens := false
	each(s.Steps, func(step Step) {
		used[step.Label] = true
		opens = opens || step.Op == record.OpOpen || len(step.Jobs) > 0
		for _, j := range step.Jobs {
			used[j.Label] = true
		}
	})
	if !opens { // a play for hosts that launch by themselves
		return
	}
	for _, server := range s.Servers {
		if !used[server.Label] && !server.Optional {
			key := m.Find("servers").Key(server.Label)
			key.Problem("no step has a session with server %s, so the run would show nothing (optional: true allows it)", server.Label)
		}
	}
}

// checkSpawns finds a limit that the steps themselves break.
func (s *Scenario) checkSpawns(m *yamlfile.Node, played []Step) {
	limit := s.Limits.SpawnsPerSession
	if limit == 0 {
		return
	}
	launches := count(played).perSession
	for _, session := range slices.Sorted(maps.Keys(launches)) {
		if n := launches[session]; n > limit {
			m.Find("limits").Key("spawns_per_session").Problem("the steps themselves launch a server for session %s %d times", session, n)
		}
	}
}

// checkNames finds a name that is like one that a repeated checkpoint gets.
func checkNames(c *yamlfile.Collector, played []Step) {
	seen := map[string]bool{}
	for i := range played {
		step := &played[i]
		if seen[step.Name] {
			c.Add(step.Line, step.Column, "the checkpoint %s would be there twice once the repeats are written out", step.Name)
		}
		seen[step.Name] = step.Name != ""
	}
}
