package page

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// payload is all that the page's script knows of a run: every process, every event and every sample, whereas the
// markup shows the first few. Its strings are cleaned by scrub. Times in columns are microseconds.
type payload struct {
	Columns  *columns       `json:"columns"`
	ID       string         `json:"id"` // prefix of the ids of the run's markup
	Scenario string         `json:"scenario" max:"80"`
	Host     string         `json:"host" max:"80"`
	End      int64          `json:"end"`
	Knots    [][2]float64   `json:"knots"` // time, per cent of the width
	Idle     [][2]float64   `json:"idle"`  // per cent, from and to
	Labels   []string       `json:"labels" max:"80"`
	Sessions []string       `json:"sessions" max:"80"`
	Texts    []string       `json:"texts" max:"300"` // what columns named ".text" refer to
	Kinds    []string       `json:"kinds"`           // of events
	States   []string       `json:"states"`
	Findings []payloadMark  `json:"findings"`
	Checks   []payloadCheck `json:"checks"`
	Lives    [][2]int64     `json:"lives"`         // of the host; -1: to the end
	Log      []string       `json:"log" max:"400"` // the end of what the host wrote to stderr: without times
	Curves   []payloadCurve `json:"curves"`
	texts    map[string]int64
	sessions map[string]int64
}

type payloadMark struct {
	ID    string  `json:"id"`
	Title string  `json:"title" max:"200"`
	Kind  string  `json:"kind" max:"80"`
	Law   string  `json:"law" max:"20"`
	Times []int64 `json:"times"`
	Rows  []int64 `json:"rows"`
}

type payloadCheck struct {
	Name  string `json:"name" max:"80"`
	State string `json:"state" max:"80"`
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Quiet bool   `json:"quiet"`
}

// payloadCurve is a picture: its lines are columns "<key>.t" and "<key>.v".
type payloadCurve struct {
	Title string        `json:"title"`
	Unit  string        `json:"unit"` // "", "bytes"
	Lines []payloadLine `json:"lines"`
}

type payloadLine struct {
	Key   string `json:"key"`
	Name  string `json:"name" max:"80"`
	Class string `json:"class"` // alive, over, owed, limit, zombie, host, servers
	Step  bool   `json:"step"`  // it stays until it changes
}

// The kinds of events, by the place in payload.Kinds.
var eventKinds = []string{
	"step", "checkpoint", "host", "session", "born", "ready", "init", "rpc", "fault", "eof", "signal", "over", "bye", "died", "lost", "reaped",
	"left", "seen", "doubt", "control", "bystander", "swept", "stderr",
}

var stateNamesOf = []string{"start", "work", "broken", "leave", "over", "zombie", "seen"}

func micro(ns int64) int64 {
	if ns < 0 {
		return -1
	}
	return ns / 1000
}

func (p *payload) text(s string) int64    { return place(&p.Texts, p.texts, s) }
func (p *payload) session(s string) int64 { return place(&p.Sessions, p.sessions, s) }

// place is where a string is in a list that has each once.
func place(list *[]string, places map[string]int64, s string) int64 {
	n, ok := places[s]
	if !ok {
		n = int64(len(*list))
		places[s], *list = n, append(*list, s)
	}
	return n
}

// payload is the data of a run, and that of its samples, which is not needed until somebody looks at a process.
func newPayload(s *model.Run, prefix string) (data, samples template.HTML, err error) {
	a := newAxis(moments(s), s.End)
	p := &payload{
		Columns: &columns{}, ID: prefix, Scenario: s.Header.Scenario.String(), Host: s.Header.Host.Name, End: micro(s.End),
		Labels: words.List(labelsOf(s)),
		Knots:  [][2]float64{}, Idle: [][2]float64{}, Findings: []payloadMark{}, Checks: []payloadCheck{}, Lives: [][2]int64{},
		Curves: []payloadCurve{},
		Log:    logLines(s.HostLog), Kinds: slices.Clone(eventKinds), States: slices.Clone(stateNamesOf),
		texts: map[string]int64{}, sessions: map[string]int64{},
	}
	p.session("")
	p.text("")
	for _, k := range a.knots {
		p.Knots = append(p.Knots, [2]float64{float64(micro(k.t)), k.x})
	}
	for _, i := range a.idle {
		p.Idle = append(p.Idle, [2]float64{i.x0, i.x1})
	}
	for _, h := range s.History.Hosts() {
		p.Lives = append(p.Lives, [2]int64{micro(h.Started), micro(h.Exited)})
	}
	for _, c := range s.History.Checkpoints() {
		p.Checks = append(p.Checks, payloadCheck{c.Name, s.CheckState(c), micro(c.Begun), micro(s.Ended(c.Ended)), c.Quiet})
	}
	rows := payloadRows(s)
	p.lifelines(s, rows)
	p.findings(s, rows)
	p.steps(s)
	p.events(s, rows)
	p.curves(s)
	words.Scrub(p)
	if data, err = packed(p, p.Columns.data); err != nil {
		return "", "", err
	}
	samples, err = sampleBlock(s, rows)
	return data, samples, err
}

// labelsOf are the labels of the servers, and of a watch those of the command lines.
func labelsOf(s *model.Run) []string {
	labels := s.Labels()
	for _, k := range s.Others {
		if k.Label != "" && !slices.Contains(labels, k.Label) {
			labels = append(labels, k.Label)
		}
	}
	return labels
}

// logMost is how many lines of the host's stderr are among the messages.
const logMost = 1000

func logLines(text string) []string {
	lines := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-logMost):]
}

// line is a row of the picture: a server, or a process beside one.
type line struct {
	f     *model.Server
	other *model.OtherProcess
}

// lines are the rows in the order of label, session and birth, each server
// followed by what belongs to it, and what belongs to none at the end.
func payloadRows(s *model.Run) []line {
	labels := map[string]int{}
	for i, l := range s.Labels() {
		labels[l] = i
	}
	order := slices.Clone(s.Servers)
	slices.SortStableFunc(order, func(x, y *model.Server) int {
		return cmp.Or(cmp.Compare(labels[x.Label], labels[y.Label]), cmp.Compare(s.SessionRank(x), s.SessionRank(y)), cmp.Compare(x.Born, y.Born))
	})
	of := map[*model.Server][]*model.OtherProcess{}
	for _, k := range s.Others {
		of[k.Of] = append(of[k.Of], k)
	}
	var out []line
	for _, f := range order {
		out = append(out, line{f: f})
		for _, k := range of[f] {
			out = append(out, line{other: k})
		}
	}
	for _, k := range of[nil] {
		out = append(out, line{other: k})
	}
	return out
}

// The classes of a line, for colours and filters.
const (
	lineGood = iota
	lineBad
	lineHarmed
	lineOther
	lineOtherBad
)

// lifelines writes what a row is, and the states that it passed through.
func (p *payload) lifelines(s *model.Run, rows []line) {
	labels := map[string]int64{}
	for i, l := range p.Labels {
		labels[l] = int64(i)
	}
	names := []string{"label", "session", "launch", "pid", "ppid", "born", "class", "name", "outcome", "anchor", "parts"}
	columns := make([][]int64, len(names))
	var state, took []int64
	last := int64(-1)
	for _, r := range rows {
		var values []int64
		var cuts []model.Stretch
		if f := r.f; f != nil {
			last, cuts = labels[f.Label], model.Stretches(f)
			if f.Unreaped && f.Died >= 0 {
				cuts = append(cuts, model.Stretch{From: f.Died, To: s.UnreapedUntil(f), State: "zombie"})
			}
			values = []int64{
				last, p.session(f.Session), int64(f.Launch), int64(f.Birth.PID), int64(f.Birth.PPID), micro(f.Born), serverClass(f),
				p.nameOf(f), p.text(s.Outcome(f)), int64(f.N), int64(len(cuts)),
			}
		} else {
			k, of := r.other, int64(-1)
			if k.Of != nil {
				of = last
			} else if k.Label != "" {
				of = labels[k.Label]
			}
			cuts = []model.Stretch{{From: k.First, To: max(k.Last, k.Reaped), State: otherState(k)}}
			values = []int64{of, 0, 0, int64(k.PID), int64(k.PPID), micro(k.First), otherClass(k), p.text(k.Comm), p.text(k.Outcome()), 0, 1}
		}
		for i, v := range values {
			columns[i] = append(columns[i], v)
		}
		for _, c := range cuts {
			state, took = append(state, int64(slices.Index(stateNamesOf, c.State))), append(took, micro(c.To-c.From))
		}
	}
	for i, name := range names {
		p.Columns.add(name, columns[i])
	}
	p.Columns.add("state", state)
	p.Columns.add("took", took)
}

func otherClass(k *model.OtherProcess) int64 {
	if k.Found {
		return lineOtherBad
	}
	return lineOther
}

func otherState(k *model.OtherProcess) string {
	if k.State == record.StateZombie {
		return "zombie"
	}
	return "seen"
}

// nameOf is 0 where the name follows from label and launch, as it does in every run of ours.
func (p *payload) nameOf(f *model.Server) int64 {
	if f.ID == f.Label+"#"+strconv.Itoa(f.Launch) {
		return 0
	}
	return p.text(f.ID)
}

func serverClass(f *model.Server) int64 {
	switch {
	case f.Harmed:
		return lineHarmed
	case f.Left, f.Overdue >= 0, f.Unreaped:
		return lineBad
	}
	return lineGood
}

func (p *payload) findings(s *model.Run, rows []line) {
	at, otherAt := map[string]int64{}, map[record.Identity]int64{}
	for i, r := range rows {
		if r.f != nil {
			at[r.f.ID] = int64(i)
		} else {
			otherAt[r.other.Identity] = int64(i)
		}
	}
	head, _ := words.FirstOf(s.Ordered, model.FindingsOf)
	for i := range head {
		f := &head[i]
		m := payloadMark{ID: p.ID + "f" + strconv.Itoa(i+1), Title: f.Title, Kind: f.Kind, Law: f.Law, Times: []int64{}, Rows: []int64{}}
		for _, t := range f.At {
			m.Times = append(m.Times, micro(t))
		}
		for _, id := range f.Servers {
			if row, ok := at[id]; ok {
				m.Rows = append(m.Rows, row)
			}
		}
		for k := range f.Evidence {
			if row, ok := otherAt[f.Evidence[k].Identity]; ok {
				m.Rows = append(m.Rows, row)
			}
		}
		p.Findings = append(p.Findings, m)
	}
}

// The classes of a step, for how it is drawn.
const (
	stepPlain = iota
	stepEnds
	stepHits
	stepSkipped
	stepOdd
)

func stepClass(st *history.Step) int64 {
	switch {
	case !model.AsExpected(st):
		return stepOdd
	case st.Skipped:
		return stepSkipped
	}
	switch st.Op {
	case record.OpBreak, record.OpKill:
		return stepHits
	case record.OpClose, record.OpStop, record.OpTerm, record.OpReload, record.OpCancel:
		return stepEnds
	}
	return stepPlain
}

func (p *payload) steps(s *model.Run) {
	var from, took, class, name []int64
	for _, st := range s.History.Steps() {
		from, took = append(from, micro(st.Begun)), append(took, micro(s.Ended(st.Ended)-st.Begun))
		class, name = append(class, stepClass(st)), append(name, p.text(model.StepName(st)))
	}
	p.Columns.add("step.t", from)
	p.Columns.add("step.took", took)
	p.Columns.add("step.class", class)
	p.Columns.add("step.text", name)
}

// sampleBlock is what the censuses say of each process: memory in units of 4 KiB, and descriptors.
func sampleBlock(s *model.Run, rows []line) (template.HTML, error) {
	at := map[record.Identity]int{}
	for i, r := range rows {
		if r.f != nil {
			at[r.f.Birth.Identity] = i
		} else {
			at[r.other.Identity] = i
		}
	}
	var t, rows0 []int64
	type series struct{ when, rss, fds []int64 }
	all := make([]series, len(rows))
	for n, look := range s.History.Censuses() {
		t = append(t, micro(look.T))
		for k := range look.Processes {
			pr := &look.Processes[k]
			if i, ok := at[pr.Identity]; ok && pr.State != record.StateZombie {
				one := &all[i]
				one.when, one.rss, one.fds = append(one.when, int64(n)), append(one.rss, pr.RSS>>12), append(one.fds, int64(pr.FDs))
			}
		}
	}
	var when, rss, fds []int64
	for i := range all {
		rows0 = append(rows0, int64(len(all[i].when)))
		when, rss, fds = append(when, all[i].when...), append(rss, all[i].rss...), append(fds, all[i].fds...)
	}
	c := &columns{}
	c.add("t", t)
	c.add("count", rows0)
	c.add("when", when)
	c.add("rss", rss)
	c.add("fds", fds)
	return packed(map[string]any{"columns": c}, c.data)
}
