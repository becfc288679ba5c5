package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// watchedRows is how many processes are listed without Verbose.
const watchedRows = 30

// Watched writes what is below a watched host: at most so many rows, those with a finding first; 0 is as many as a report has.
func Watched(b *bytes.Buffer, v *attach.View, rows int, o Options) {
	p := NewPrinter(b, o)
	p.watched(v, rows)
}

func (p *Printer) watched(v *attach.View, rows int) {
	if rows <= 0 {
		rows = p.limit(watchedRows)
	}
	host := fmt.Sprintf("%s (pid %d), %s below it, %s, %d descriptors", words.Clean(v.Host.Comm, words.MaxName), v.Host.PID,
		text.Count(len(v.Children), "process"), words.Size(v.Host.RSS), v.Host.FDs)
	if v.Host.Exited {
		host = fmt.Sprintf("%s (pid %d) has ended while it was watched", words.Clean(v.Host.Comm, words.MaxName), v.Host.PID)
	}
	p.Field(2, fieldWidth, "host", host)
	p.Fields(2, fieldWidth, "servers", p.capped(model.WatchedLines(v), 10))
	p.Fields(2, fieldWidth, "growth", model.GrowthLines(v))
	p.Fields(2, fieldWidth, "unread", p.capped(model.UnreadLines(v), TextDoubts))
	if len(v.Children) == 0 {
		return
	}
	_, table := model.WatchedTable(v)
	shown, more := words.FirstOf(table[1:], rows)
	table, left := p.fitting(table[:1+len(shown)])
	p.Table(table)
	if len(left) > 0 {
		p.Field(2, 0, "", fmt.Sprintf("%s hidden (%s); use -v to show all", text.Count(len(left), "column"), strings.Join(left, ", ")))
	}
	if more > 0 {
		p.Field(2, 0, "", "and "+text.Count(more, "more process"))
	}
}

// ends are the commands that end what was found. They stand on lines of their own, to be copied.
func (p *Printer) ends(v *attach.View) {
	lines := model.EndLines(v)
	if len(lines) == 0 {
		return
	}
	p.Blank()
	p.Field(2, fieldWidth, "to end",
		"leakbench ends nothing. Each line checks that the pid is still the same process (field 22 of its stat), and sends SIGTERM:")
	head, more := words.FirstOf(lines, p.limit(watchedRows))
	for _, line := range head {
		p.out.WriteString("    " + line)
		p.Blank()
	}
	if more > 0 {
		p.Field(4, 0, "", "and "+text.Count(more, "more line"))
	}
}

// lesser are the columns that are left out first where there is no room, the least important one first.
var lesser = []string{"CGROUP", "SESSION", "READ", "STATE", "FDS", "GEN", "WAITS IN"}

// fitting leaves out as many columns as it takes to fit a window. A file has no width, and who asks for all gets all.
func (p *Printer) fitting(table [][]string) (fits [][]string, left []string) {
	if !p.Window || p.Verbose {
		return table, nil
	}
	for _, name := range lesser {
		if i := slices.Index(table[0], name); i >= 0 && widthOf(table) > p.Width {
			drop(table, i)
			left = append(left, name)
		}
	}
	return table, left
}

func drop(table [][]string, column int) {
	for i := range table {
		table[i] = slices.Delete(table[i], column, column+1)
	}
}

func widthOf(table [][]string) (all int) {
	for column := range table[0] {
		widest := 0
		for _, row := range table {
			widest = max(widest, text.Width(row[column]))
		}
		all += widest + 2
	}
	return all + 2
}
