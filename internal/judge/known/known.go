// Package known is the list of known findings, .leakbench/known.yaml: those that a project lives with for now, each
// with a reason and the day on which it has to be looked at again. The list may not rot: an entry that is not found
// any more is as wrong as a finding that is not listed.
package known

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// File is where the list is kept, from the root of a repository.
const File = ".leakbench/known.yaml"

// Days is how long an entry is good for where nobody says otherwise.
const Days = 90

// Entry is one known finding, or a set of them.
type Entry struct {
	Scenario    string
	Law         string // "" is every law
	Fingerprint string // "" is every finding of the law
	Host        string // "" is every host
	Reason      string
	Expires     time.Time // the last day on which it is good, UTC
	// Sometimes says that it is not found in each run, so that its absence shows nothing: only the date ends it.
	Sometimes bool

	Line, Column int // where it stands in the file
}

// Finding is what the entry is for: scenario[:law[:fingerprint]].
func (e *Entry) Finding() string {
	return strings.TrimRight(strings.Join([]string{e.Scenario, e.Law, e.Fingerprint}, ":"), ":")
}

// covers says that the entry is for a play.
func (e *Entry) covers(p compare.Play) bool {
	return e.Scenario == p.Scenario && (e.Host == "" || e.Host == p.Host)
}

func (e *Entry) matches(p compare.Play, f *verdict.Finding) bool {
	return e.covers(p) && (e.Law == "" || e.Law == f.Law) && (e.Fingerprint == "" || e.Fingerprint == f.Fingerprint || e.Outdated(f))
}

// Outdated says that the entry names a finding by a fingerprint that an earlier version gave it.
func (e *Entry) Outdated(f *verdict.Finding) bool {
	return e.Fingerprint != f.Fingerprint && slices.Contains(f.Aliases, e.Fingerprint)
}

// Expired says that the entry's last day is over.
func (e *Entry) Expired(now time.Time) bool { return !now.UTC().Before(e.Expires.AddDate(0, 0, 1)) }

// List is a file of known findings. The zero value is an empty one.
type List struct {
	File    string
	Entries []Entry
	Source  string
}

// State is what became of an entry.
type State string

// The states. Stale and Expired are errors.
const (
	Found     State = "found"
	Stale     State = "stale"     // its plays were judged without a doubt, and did not show it
	Expired   State = "expired"   // found or not
	Undecided State = "undecided" // not found, but the runs do not tell
	NotRun    State = "not run"   // none of its plays was run
	Absent    State = "not seen"  // not found, and that is what sometimes allows
)

// Checked is an entry, held against runs.
type Checked struct {
	Entry
	State State
	In    int // runs that showed it
}

// Bad says that the entry has to be dealt with.
func (c *Checked) Bad() bool { return c.State == Stale || c.State == Expired }

// Text says what became of the entry, and what to do.
func (c *Checked) Text() string {
	day := c.Expires.Format(time.DateOnly)
	switch c.State {
	case Stale:
		return "listed, but no longer found: remove it from the list"
	case Expired:
		if c.In > 0 {
			return "expired on " + day + ", and still found: fix it, or give it a new date"
		}
		return "expired on " + day + ": fix it and take it out, or give it a new date"
	case Found:
		return fmt.Sprintf("found in %d of the runs, good until %s", c.In, day)
	case Undecided:
		return "not found, but its runs could not be decided"
	case Absent:
		return "not found this time, good until " + day
	}
	return "not run, good until " + day
}

// Check holds each entry against runs: those of an attempt that was made again left out.
func (l *List) Check(runs []verdict.Judged, now time.Time) []Checked {
	out := make([]Checked, 0, len(l.Entries))
	for _, e := range l.Entries {
		out = append(out, e.check(runs, now))
	}
	return out
}

func (e *Entry) check(runs []verdict.Judged, now time.Time) Checked {
	c := Checked{Entry: *e, State: NotRun}
	played, decided := 0, 0
	for i := range runs {
		j := &runs[i]
		if !e.covers(compare.PlayOf(j)) {
			continue
		}
		played++
		if compare.Conclusive(j) {
			decided++
		}
		if slices.ContainsFunc(j.Verdict.Findings, func(f verdict.Finding) bool { return e.matches(compare.PlayOf(j), &f) }) {
			c.In++
		}
	}
	switch {
	case e.Expired(now):
		c.State = Expired
	case c.In > 0:
		c.State = Found
	case played == 0:
	case decided < played:
		c.State = Undecided
	case e.Sometimes:
		c.State = Absent
	default:
		c.State = Stale
	}
	return c
}

// Lists is the entry that pardons a finding, or nil. An expired one pardons nothing.
func (l *List) Lists(p compare.Play, f *verdict.Finding, now time.Time) *Entry {
	for i := range l.Entries {
		if e := &l.Entries[i]; e.matches(p, f) && !e.Expired(now) {
			return e
		}
	}
	return nil
}

// Expired is the entry that listed a finding until it expired, or nil.
func (l *List) Expired(p compare.Play, f *verdict.Finding, now time.Time) *Entry {
	for i := range l.Entries {
		if e := &l.Entries[i]; e.matches(p, f) && e.Expired(now) {
			return e
		}
	}
	return nil
}

// Size is how many entries there are, in words.
func (l *List) Size() string {
	return fmt.Sprintf("%d %s", len(l.Entries), text.Choose(len(l.Entries), "entry", "entries"))
}

var format = yamlfile.KindOfFile{Noun: "list of known findings", Doc: "docs/use/gate.md", Instead: "write it out", Marks: []string{"known"}}

const maxReason = 500

// Load reads a list. A file that is not there is an error only where it must
// be; what is wrong with its text is a yamlfile.Errors.
func Load(path string, must bool) (List, error) {
	f, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return List{File: path}, nil
	}
	var src []byte
	if err == nil {
		defer f.Close()
		src, err = yamlfile.Source(f)
	}
	if info, _ := os.Stat(path); err == nil && len(src) == 0 && info != nil && info.Mode()&fs.ModeNamedPipe != 0 {
		err = fmt.Errorf("%s is a pipe that nobody writes to", path) // an empty list would let nothing pass, and call nothing stale
	}
	if err != nil {
		return List{}, fmt.Errorf("failed to read the known findings: %w", err)
	}
	return Parse(path, src)
}

// Parse reads the text of a list; file is what messages call it. Where the names of all scenarios are known, an entry of
// another one is a problem.
func Parse(file string, src []byte, scenarios ...string) (List, error) {
	l := List{File: file, Source: string(src)}
	if blank(l.Source) {
		return l, nil
	}
	if err := yamlfile.Parse(file, src, format, func(root *yamlfile.Node) { list(&l.Entries, scenarios).Read(root) }); err != nil {
		return List{}, err
	}
	return l, nil
}

// blank says that a text holds nothing but comments.
func blank(src string) bool {
	for line := range strings.Lines(src) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// list is the whole file; nothing is a list that lists nothing.
func list(into *[]Entry, scenarios []string) yamlfile.Value {
	seen := map[string]int{}
	items := yamlfile.List(into, "known", func(e *Entry) yamlfile.Value {
		return e.value(scenarios).Then(func(n *yamlfile.Node) {
			key := e.Finding() + "\x00" + e.Host
			if at := seen[key]; at > 0 && e.Scenario != "" {
				n.Problem("%s is listed twice; the first is on line %d", e.Finding(), at)
			}
			seen[key] = n.Line
		})
	}).OrNothing()
	return yamlfile.Object("the list of known findings",
		yamlfile.Need("known", "one entry per finding, or per scenario or law whose findings are all known", items))
}

func (e *Entry) value(scenarios []string) yamlfile.Value {
	return yamlfile.Object("a known finding",
		yamlfile.Need("finding", "scenario[:law[:fingerprint]]: a report has the fingerprint; leakbench known update writes the whole entry",
			e.finding(scenarios)),
		yamlfile.May("host", "only on this host (default: on any host)", yamlfile.OneLine(&e.Host, "the name of a host", 200)),
		yamlfile.Need("reason", "", yamlfile.OneLine(&e.Reason, "the reason why it is accepted for now", maxReason)),
		yamlfile.May("sometimes", "not every run shows it, so its absence does not make it stale", yamlfile.Yes(&e.Sometimes)),
		yamlfile.Need("expires", "its last valid day, like 2030-01-31: from the next day on it fails the gate", e.expires()),
	).Then(func(n *yamlfile.Node) { e.Line, e.Column = n.Line, n.Column })
}

const grammar = "scenario, scenario:law or scenario:law:fingerprint"

var (
	scenarioForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	printForm    = regexp.MustCompile(`^[0-9a-f]{12}$`)
	dayForm      = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$`)
)

func (e *Entry) finding(scenarios []string) yamlfile.Value {
	var text string
	form := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*(:(` + strings.Join(law.EveryID(), "|") + `)(:[0-9a-f]{12})?)?$`)
	return yamlfile.OneLine(&text, "a finding, "+grammar, 200).Like(form).Then(func(n *yamlfile.Node) {
		if text != "" {
			e.readFinding(n, text, scenarios)
		}
	})
}

func (e *Entry) readFinding(n *yamlfile.Node, text string, scenarios []string) {
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		n.Problem("%q has %d parts; a finding is %s", yamlfile.Clip(text), len(parts), grammar)
		return
	}
	parts = append(parts, "", "")
	switch {
	case !scenarioForm.MatchString(parts[0]):
		n.Problem("%q is not the name of a scenario; a finding is %s", yamlfile.Clip(parts[0]), grammar)
	case len(scenarios) > 0 && !slices.Contains(scenarios, parts[0]):
		n.Problem("there is no scenario %q; %s", yamlfile.Clip(parts[0]), meant(parts[0], scenarios))
	}
	if laws := law.EveryID(); parts[1] != "" && !slices.Contains(laws, parts[1]) {
		n.Problem("%q is not a law; %s", yamlfile.Clip(parts[1]), yamlfile.MeantOr(parts[1], laws))
	}
	if parts[2] != "" && !printForm.MatchString(parts[2]) {
		n.Problem("%q is not a fingerprint: 12 digits of 0-9 and a-f", yamlfile.Clip(parts[2]))
	}
	if strings.HasSuffix(text, ":") {
		n.Problem("%q ends in a colon; a finding is %s", yamlfile.Clip(text), grammar)
	}
	e.Scenario, e.Law, e.Fingerprint = parts[0], parts[1], parts[2]
}

// meant is what an unknown scenario may be instead.
func meant(name string, scenarios []string) string {
	if near := text.DidYouMean(name, scenarios); near != "" {
		return near
	}
	return "if it is one of your own, check its file together with the list, or name it in leakbench.yaml"
}

func (e *Entry) expires() yamlfile.Value {
	var text string
	return yamlfile.OneLine(&text, "a day like 2030-01-31", 20).Like(dayForm).Then(func(n *yamlfile.Node) {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil && text != "" {
			n.Problem("%q is not a date; write it like 2030-01-31", yamlfile.Clip(text))
		}
		e.Expires = day
	})
}

// schemaURL is where the schema of the format is found, and its name.
const schemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/schema/known.schema.json"

// Schema is the JSON Schema (draft 2020-12) of a list of known findings, for editors. It is made of what the reader
// reads with. That a finding is listed twice no schema can say: Parse does.
func Schema() []byte {
	return yamlfile.DescribeFile(list(new([]Entry), nil), schemaURL, "leakbench known findings",
		"Findings that a project lives with for now: docs/use/gate.md", nil)
}
