package formats

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// metric is a family with its samples, one for each run or finding.
type metric struct {
	name, help string
	samples    []string
}

func (m *metric) add(value string, labels ...string) {
	var b strings.Builder
	for i := 0; i < len(labels); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s="%s"`, labels[i], promEscapes.Replace(words.Clean(labels[i+1], words.MaxName)))
	}
	m.samples = append(m.samples, fmt.Sprintf("%s{%s} %s\n", m.name, b.String(), value))
}

var promEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "##", `#\\#`)

// Prometheus writes the text format, all as gauges: each run is a series of its own and does not change any more.
func Prometheus(b *bytes.Buffer, runs []verdict.Judged) error {
	family := func(name, help string) *metric { return &metric{name: "leakbench_" + name, help: help} }
	outcome := family("run_outcome", "1 for the outcome of the run, 0 for the others.")
	law := family("law_broken", "Whether a law was broken: 1 or 0. A law that was not judged has no sample.")
	found := family("finding_processes", "How many processes or measurements show a finding.")
	doubts := family("run_doubts", "Reasons why the run may not be called clean.")
	spawned := family("run_servers_spawned", "Servers that the host launched.")
	peak := family("run_servers_peak", "The most servers alive at one time.")
	left := family("run_processes_left", "Processes that outlived the host.")
	took := family("run_duration_seconds", "How long the run took.")
	started := family("run_started_timestamp_seconds", "When the run started.")
	seen := map[string]int{}
	for i := range runs {
		v, id := &runs[i].Verdict, promID(&runs[i], seen)
		for _, o := range []verdict.Outcome{verdict.Clean, verdict.Leak, verdict.Inconclusive} {
			outcome.add(oneOrZero(v.Outcome == o), append(id, "outcome", string(o))...)
		}
		for _, l := range v.Laws {
			if l.Status != verdict.LawNotJudged {
				law.add(oneOrZero(l.Status == verdict.LawBroken), append(id, "law", l.Law, "name", l.Name)...)
			}
		}
		for k := range v.Findings {
			f := &v.Findings[k]
			found.add(fmt.Sprint(f.Count),
				append(id, "law", f.Law, "kind", f.Kind, "label", f.Label, "severity", string(f.Severity), "fingerprint", f.Fingerprint)...)
		}
		doubts.add(fmt.Sprint(len(v.Doubts)), id...)
		spawned.add(fmt.Sprint(v.Spawned), id...)
		peak.add(fmt.Sprint(v.PeakLive), id...)
		left.add(fmt.Sprint(v.Left), id...)
		took.add(junitTime(model.Lasted(&runs[i])), id...)
		if r := runs[i].Run; r != nil && !r.Header.Started.IsZero() {
			started.add(fmt.Sprintf("%.3f", float64(r.Header.Started.UnixMilli())/1e3), id...)
		}
	}
	writeMetrics(b, outcome, law, found, doubts, spawned, peak, left, took, started)
	return nil
}

// Watched writes what a watch shows at the moment, as gauges. No command line is in it: programs stand there by their names.
func Watched(b *bytes.Buffer, v *attach.View) {
	family := func(name, help string) *metric { return &metric{name: "leakbench_watched_" + name, help: help} }
	host := []string{"host", v.Host.Comm, "pid", strconv.Itoa(v.Host.PID)}
	labels := func(more ...string) []string { return append(slices.Clone(host), more...) }
	processes := family("processes", "Processes below the host.")
	servers := family("servers",
		"Servers that are alive: used lately (within the settle time, or twice as long as the host lets others be idle), or idle.")
	found, memory := family("findings", "Processes that show a finding."), family("memory_bytes", "Resident memory.")
	fds := family("host_descriptors", "Open descriptors of the host.")
	growth := family("growth_per_hour", "Growth an hour, where it is sure (95%).")
	age := family("oldest_fact_seconds", "How old the oldest fact of a process is.")
	unread := family("unread_processes", "Processes of which something could not be read.")
	roles, oldest := map[string]int{}, int64(0)
	below := int64(0)
	for _, ch := range v.Children {
		roles[string(ch.Role)]++
		below += ch.RSS
		if ch.Role != attach.RoleZombie { // nothing is read of it any more
			oldest = max(oldest, int64(ch.FactsAge))
		}
	}
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		processes.add(strconv.Itoa(roles[role]), labels("role", role)...)
	}
	names, ofName := lists.GroupBy(v.Groups, func(g *attach.Group) string { return g.Label }) // several command lines can have one
	for _, name := range names {
		alive, used := 0, 0
		for _, g := range ofName[name] {
			if !g.Shell {
				alive, used = alive+g.Alive, used+g.Used
			}
		}
		if alive > 0 {
			servers.add(strconv.Itoa(used), labels("label", name, "state", "used")...)
			servers.add(strconv.Itoa(alive-used), labels("label", name, "state", "idle")...)
		}
	}
	keys, byKind := lists.GroupBy(v.Breaches, func(b *breach.Breach) [3]string { return [3]string{b.Law, b.Kind, b.Label} })
	for _, k := range keys {
		found.add(strconv.Itoa(len(byKind[k])), labels("law", k[0], "kind", k[1], "label", k[2])...)
	}
	memory.add(strconv.FormatInt(v.Host.RSS, 10), labels("of", "host")...)
	memory.add(strconv.FormatInt(below, 10), labels("of", "below")...)
	fds.add(strconv.Itoa(v.Host.FDs), host...)
	for i := range v.Trends {
		if t := &v.Trends[i]; t.Grows() {
			growth.add(fmt.Sprintf("%g", t.Slope), labels("of", t.Of)...)
		}
	}
	age.add(fmt.Sprintf("%.3f", time.Duration(oldest).Seconds()), host...)
	for _, u := range v.Unread {
		unread.add(strconv.Itoa(u.Of), labels("column", u.Column, "why", u.Why)...)
	}
	writeMetrics(b, processes, servers, found, memory, fds, growth, age, unread)
}

func writeMetrics(b *bytes.Buffer, all ...*metric) {
	for _, m := range all {
		if len(m.samples) > 0 {
			fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s gauge\n%s", m.name, m.help, m.name, strings.Join(m.samples, ""))
		}
	}
}

func oneOrZero(is bool) string {
	if is {
		return "1"
	}
	return "0"
}

// promID are the labels that tell a run from all others: a run that is there twice, or could not be read, gets a number.
func promID(j *verdict.Judged, seen map[string]int) []string {
	id := "unread"
	if j.Run != nil && j.Run.Header.ID != "" {
		id = words.Clean(j.Run.Header.ID, words.MaxName)
	}
	if seen[id]++; seen[id] > 1 {
		id = fmt.Sprintf("%.60s#%d", id, seen[id])
	}
	play := compare.PlayOf(j)
	labels := []string{"scenario", play.What(), "host", play.Host, "run", id}
	return labels[:len(labels):len(labels)] // append copies
}

// Bench writes the lines of golang.org/design/14313-benchmark-format. Counts are exact: benchstat compares them by
// their value and asks for no repeats. A law that was not judged has no count, which is not the same as none.
func Bench(b *bytes.Buffer, runs []verdict.Judged) error {
	var records []benchfmt.Record
	for i := range runs {
		if i == 0 {
			records = benchUnits()
		}
		records = append(records, benchResult(&runs[i]))
	}
	w := benchfmt.NewWriter(b)
	for _, r := range records {
		if err := w.Write(r); err != nil {
			return fmt.Errorf("writing a benchmark line: %w", err)
		}
	}
	return nil
}

func benchUnits() []benchfmt.Record {
	var units []string
	for _, l := range append(law.All(), law.Servers()...) {
		units = append(units, l.Unit)
	}
	var out []benchfmt.Record
	for _, unit := range append(units, "findings", "doubts", "spawned", "peak-live", "left") {
		for _, m := range [][2]string{{"assume", "exact"}, {"better", "lower"}} {
			out = append(out, &benchfmt.UnitMetadata{
				UnitMetadataKey: benchfmt.UnitMetadataKey{Key: m[0]}, OrigUnit: unit + "/run", Value: m[1],
			})
		}
	}
	return out
}

func benchResult(j *verdict.Judged) *benchfmt.Result {
	v := &j.Verdict
	play := compare.PlayOf(j)
	name := benchName(play.What(), true) + "/host=" + benchName(play.Host, false)
	r := &benchfmt.Result{Name: benchfmt.Name(name), Iters: 1, Values: []benchfmt.Value{{Value: float64(model.Lasted(j)), Unit: "ns/op"}}}
	add := func(n int, unit string) {
		r.Values = append(r.Values, benchfmt.Value{Value: float64(n), Unit: unit + "/run"})
	}
	counts := map[string]int{}
	for i := range v.Findings {
		counts[v.Findings[i].Law] += v.Findings[i].Count
	}
	for _, l := range v.Laws {
		if unit := law.Of(l.Law).Unit; unit != "" && l.Status != verdict.LawNotJudged {
			add(counts[l.Law], unit)
		}
	}
	add(len(v.Findings), "findings")
	add(len(v.Doubts), "doubts")
	add(v.Spawned, "spawned")
	add(v.PeakLive, "peak-live")
	add(v.Left, "left")
	return r
}

// benchName is a name without what the format gives a meaning to. The name after "Benchmark" starts with an
// upper-case letter; a "-" before digits at the end would be GOMAXPROCS.
func benchName(s string, upper bool) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, words.Clean(s, words.MaxName))
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i] + "_" + name[i+1:]
		}
	}
	if name == "" {
		name = "unknown"
	}
	if upper && (name[0] < 'A' || name[0] > 'Z') {
		if name[0] >= 'a' && name[0] <= 'z' {
			return strings.ToUpper(name[:1]) + name[1:]
		}
		return "X" + name
	}
	return name
}
