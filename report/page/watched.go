package page

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// watchedView is what a watch shows of the processes below a host, in the terminal's words.
type watchedView struct {
	About       []fact `max:"300"`
	Head        []string
	First, Rest []watchedRow
	Left        string
}

type watchedRow struct {
	Class string
	Cells []string `max:"160"`
	Found string   `max:"160"` // the last cell, where the table has that column
}

// watchedMost is how many processes a page lists, and watchedFirst how many of them are not folded.
const watchedMost, watchedFirst = 1000, 30

func newWatched(s *model.Run) *watchedView {
	v := s.Verdict.Watched
	if v == nil {
		return nil
	}
	w := &watchedView{}
	about := func(name string, lines []string) {
		for _, line := range lines {
			w.About = append(w.About, fact{name, line})
			name = "" // it stands once
		}
	}
	about("Servers", model.WatchedLines(v))
	about("Growth", model.GrowthLines(v))
	about("Not seen", model.UnreadLines(v))
	children, table := model.WatchedTable(v)
	for _, name := range table[0] {
		if len(name) > 3 || name == "AGE" || name == "GEN" {
			name = name[:1] + strings.ToLower(name[1:])
		}
		w.Head = append(w.Head, name)
	}
	var all []watchedRow
	for i, ch := range children {
		row := watchedRow{known(ch.Kind != "", "bad"), table[i+1], ""}
		if last := len(row.Cells) - 1; table[0][last] == "FINDING" {
			row.Cells, row.Found = row.Cells[:last], cmp.Or(row.Cells[last], "-")
		}
		all = append(all, row)
	}
	rows, more := words.FirstOf(all, watchedMost)
	w.First, w.Rest = rows[:min(len(rows), watchedFirst)], rows[min(len(rows), watchedFirst):]
	if more > 0 {
		w.Left = "Not shown: " + text.Count(more, "process") + "."
	}
	return w
}

// watchedFacts are the numbers beside the verdict on a watched host. It launched most of what it has before anybody looked.
func watchedFacts(s *model.Run) []fact {
	v := s.Verdict.Watched
	servers := 0
	for _, g := range v.Groups {
		if !g.Shell {
			servers += g.Alive
		}
	}
	return present([]fact{
		{"Host", strings.TrimSpace(s.Header.Host.Name)},
		{"Servers alive", strconv.Itoa(servers)},
		{"Processes below it", strconv.Itoa(len(v.Children))},
		{"Should be gone", strconv.Itoa(s.Impact.Left)},
		{"Zombies", known(s.Impact.Unreaped > 0, strconv.Itoa(s.Impact.Unreaped))},
		{"Looks", strconv.Itoa(v.Looks)},
		{"Watched for", duration.Text(s.End)},
		{"Host ended", known(v.Host.Exited, "while it was watched")},
		{"Run ended", ending(s)},
	})
}
