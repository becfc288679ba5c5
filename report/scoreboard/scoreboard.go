// Package scoreboard renders a board of hosts by scenarios as HTML, Markdown, text and JSON.
package scoreboard

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/scoreboard"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/page"
	"github.com/leakbench/leakbench/report/words"
)

// Link is the address of a run's report, seen from the file that is written; "" is no link. nil links none.
type Link func(page string) string

type fact struct{ Name, Value string }

// scoreView is all that the scoreboard's template knows. Its strings are cleaned by scrub before it does.
type scoreView struct {
	CSS      template.CSS
	Policy   string
	Sentence string
	Facts    []fact
	Omitted  string
	Hosts    []scoreHost
	Rows     []scoreRow
}

type scoreHost struct {
	scoreboard.Host `max:"Name=80 Version=40 About=300 Missing=500 Install=200"`
	Anchor          string
	Counts          string
	Levels          string // how far it gets
	Notes           []scoreNote
}

type scoreRow struct {
	Scenario string `max:"80"`
	Title    string `max:"200"`
	Cells    []scoreCell
}

type scoreCell struct {
	look
	Text, Warns string
	Again       bool
	Href        string
}

// look is how a status is shown.
type look struct{ Class, Glyph, Word string }

// scoreNote is what a cell that is not plainly clean has to say; cells of a host that are out for one reason share one.
type scoreNote struct {
	look
	Scenarios []scoreLink
	Lines     []scoreLine
	Again     bool
}

// scoreLine is a line of a note: the kind of a finding in it, where there is one, leads to its explanation.
type scoreLine struct {
	Before, After string `max:"500"`
	Kind          string `max:"80"`
	About         string
}

func (l scoreLine) String() string { return l.Before + l.Kind + l.After }

type scoreLink struct {
	Name string `max:"80"`
	Href string
}

var looks = map[scoreboard.Status]look{
	scoreboard.Clean:         {"clean", "✓", "clean"},
	scoreboard.Leak:          {"leak", "✗", "leak"},
	scoreboard.Inconclusive:  {"inconclusive", "?", "inconclusive"},
	scoreboard.NotApplicable: {"na", "–", "n.a."},
	scoreboard.NotInstalled:  {"missing", "·", "not installed"},
}

func newScoreView(b *scoreboard.Board, link Link) *scoreView {
	v := &scoreView{Sentence: scoreSentence(b), Facts: scoreFacts(b), Omitted: strings.Join(b.Omitted, ", ")}
	for i, h := range b.Hosts {
		v.Hosts = append(v.Hosts,
			scoreHost{h, fmt.Sprintf("host-%d", i+1), scoreCounts(b.Count(h.ID)), scoreLevels(b, h.ID), scoreNotes(b, h.ID, link)})
	}
	for _, s := range b.Scenarios {
		row := scoreRow{Scenario: s.Name, Title: s.Title}
		for _, h := range b.Hosts {
			row.Cells = append(row.Cells, newScoreCell(b.Cell(s.Name, h.ID), link))
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func newScoreCell(c *scoreboard.Cell, link Link) scoreCell {
	if c == nil {
		open := looks[scoreboard.Inconclusive]
		return scoreCell{look: look{open.Class, open.Glyph, "not played"}}
	}
	return scoreCell{looks[c.Status], brokenLaws(c.Errors), brokenLaws(c.Warnings), c.Again, scoreHref(c, link)}
}

func scoreHref(c *scoreboard.Cell, link Link) string {
	if c.Page == "" || link == nil {
		return ""
	}
	if href := link(c.Page); relativeHref.MatchString(href) {
		return href
	}
	return ""
}

// relativeHref is an address that is escaped, has no scheme, and means nothing to Markdown.
var relativeHref = regexp.MustCompile(`^[A-Za-z0-9%._~/@+=,-]+$`)

func brokenLaws(all []scoreboard.Broken) string {
	var laws []string
	for _, b := range all {
		laws = append(laws, b.Law)
	}
	return strings.Join(laws, " ")
}

func scoreNotes(b *scoreboard.Board, host string, link Link) []scoreNote {
	var notes []scoreNote
	for i := range b.Cells {
		c := &b.Cells[i]
		if c.Host != host || c.Status == scoreboard.NotInstalled || c.Status == scoreboard.Clean && len(c.Warnings) == 0 && !c.Again {
			continue
		}
		n := scoreNote{looks[c.Status], []scoreLink{{c.Scenario, scoreHref(c, link)}}, scoreLines(c), c.Again}
		same := slices.IndexFunc(notes, func(other scoreNote) bool {
			return other.look == n.look && other.Again == n.Again && slices.Equal(other.Lines, n.Lines)
		})
		if same >= 0 {
			notes[same].Scenarios = append(notes[same].Scenarios, n.Scenarios...)
			continue
		}
		notes = append(notes, n)
	}
	return notes
}

// linesOf caps what a cell says on the board: its report has all of it.
const linesOf = 6

func scoreLines(c *scoreboard.Cell) []scoreLine {
	var lines []scoreLine
	if c.Reason != "" {
		lines = append(lines, scoreLine{Before: c.Reason})
	}
	for _, b := range c.Errors {
		lines = append(lines, scoreFindings("", b)...)
	}
	for _, b := range c.Warnings {
		lines = append(lines, scoreFindings("warning, ", b)...)
	}
	if c.Reason == "" { // which says what all of them come from
		for _, d := range c.Doubts {
			text, _, _ := strings.Cut(d.Text, record.StderrFollows) // which is of this machine
			lines = append(lines, scoreLine{Before: "unclear: " + text})
		}
	}
	head, more := words.FirstOf(lines, linesOf)
	if more > 0 {
		head = append(slices.Clone(head), scoreLine{Before: fmt.Sprintf("and %d more", more)})
	}
	return head
}

func scoreFindings(word string, b scoreboard.Broken) []scoreLine {
	var lines []scoreLine
	for _, f := range b.Findings {
		lines = append(lines, scoreLine{Before: word + b.Law + " ", Kind: f.Kind, About: model.AboutKind(f.Kind), After: ": " + f.Title})
	}
	return lines
}

func scoreSentence(b *scoreboard.Board) string {
	return fmt.Sprintf("%s in %s: %s", text.Count(len(b.Hosts), "host"), text.Count(len(b.Scenarios), "scenario"),
		scoreCounts(b.Count("")))
}

func scoreCounts(n map[scoreboard.Status]int) string {
	var parts []string
	for _, s := range scoreboard.Statuses {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

// scoreLevels is how far a host gets. What can't be asked of it, or was not played, counts on neither side.
func scoreLevels(b *scoreboard.Board, host string) string {
	reach := words.Reach{}
	for _, s := range b.Scenarios {
		if c := b.Cell(s.Name, host); c != nil && c.Status != scoreboard.NotApplicable && c.Status != scoreboard.NotInstalled {
			reach.Add(s.Level, c.Status == scoreboard.Clean)
		}
	}
	return reach.String()
}

func scoreFacts(b *scoreboard.Board) []fact {
	var took record.Duration
	for _, c := range b.Cells {
		took += c.Took
	}
	tool := "leakbench " + b.Tool.Version
	if b.Tool.Commit != "" {
		tool += " (" + b.Tool.Commit[:min(12, len(b.Tool.Commit))] + ")"
	}
	return []fact{
		{"Played with", tool + ", " + b.Tool.Go},
		{"On", fmt.Sprintf("%s %s/%s, %s", b.System.Kernel, b.System.OS, b.System.Arch, text.Count(b.System.CPUs, "processor"))},
		{"Made", b.Made.Format(time.DateOnly + " 15:04 UTC")},
		{"Runs side by side", fmt.Sprint(b.Jobs)},
		{"Runs took, in all", duration.Text(took)},
		{"Command", words.Shell(b.Command)},
	}
}

var (
	//go:embed assets/scoreboard.tmpl
	scoreSource string
	//go:embed assets/scoreboard.css
	scoreCSS string
)

var scoreTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("scoreboard").Parse(scoreSource)) })

// HTML writes the scoreboard as one page that needs nothing besides itself, and no script.
func HTML(w *bytes.Buffer, b *scoreboard.Board, link Link) error {
	v := newScoreView(b, link)
	words.Scrub(v)
	v.CSS = template.CSS(scoreCSS) //nolint:gosec // ours
	v.Policy = page.Policy(scoreCSS, "")
	return scoreTemplate().Execute(w, v)
}

// LinksFrom is the Link of a board that is written to a file: addresses as seen from there. On another drive there is none.
func LinksFrom(file string) Link {
	return func(page string) string {
		from, wrong := filepath.Abs(filepath.Dir(file))
		to, err := filepath.Abs(page)
		if wrong != nil || err != nil {
			return ""
		}
		rel, err := filepath.Rel(from, to)
		if err != nil {
			return ""
		}
		return (&url.URL{Path: filepath.ToSlash(rel)}).String()
	}
}
