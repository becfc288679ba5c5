package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/words"
)

// WatchedHead names the columns of watchedRow.
var WatchedHead = []string{
	"PID", "AGE", "RSS", "FDS", "STATE", "WAITS IN", "STDIN HELD BY", "WHAT", "GEN", "IDLE", "SESSION", "CGROUP", "READ", "FINDING",
}

// WatchedTable is what is below a watched host, under the names of the columns that say something: those with a finding first, then those
// with a note, in the order of their births. The first row of the table is the head.
func WatchedTable(v *attach.View) (shown []*attach.Child, table [][]string) {
	shown = slices.Clone(v.Children)
	slices.SortStableFunc(shown, func(a, b *attach.Child) int { return gravity(a) - gravity(b) })
	table = [][]string{slices.Clone(WatchedHead)}
	for _, ch := range shown {
		table = append(table, watchedRow(v, ch))
	}
	for column := len(WatchedHead) - 1; column >= 0; column-- {
		if !slices.ContainsFunc(table[1:], func(row []string) bool { return strings.Trim(row[column], "-") != "" }) {
			for i := range table {
				table[i] = slices.Delete(table[i], column, column+1)
			}
		}
	}
	return shown, table
}

func gravity(ch *attach.Child) int {
	switch {
	case ch.Kind != "":
		return 0
	case ch.Note != "":
		return 1
	}
	return 2
}

// watchedRow is a process below a watched host, as a row of text.
func watchedRow(v *attach.View, ch *attach.Child) []string {
	gen := "-"
	if u := ch.Unit; u != nil {
		gen = fmt.Sprintf("%d/%d", u.Generation, u.Generations())
	}
	return []string{
		strconv.Itoa(ch.PID), rounded(ch.Age), words.Size(ch.RSS), descriptors(ch),
		string(ch.State), waitsIn(ch), heldBy(ch), what(ch), gen, idleFor(ch), strconv.Itoa(ch.SID), ownCgroup(v, ch),
		readAgo(ch), finding(ch),
	}
}

// ownCgroup is the control group of a process, where that is not the host's.
func ownCgroup(v *attach.View, ch *attach.Child) string {
	switch {
	case ch.Cgroup == "" || ch.State == record.StateZombie:
		return "-"
	case ch.Cgroup == v.Host.Cgroup:
		return "host's"
	}
	return text.Clip(ch.Cgroup, 24, "…")
}

func descriptors(ch *attach.Child) string {
	if ch.State == record.StateZombie {
		return "-"
	}
	if ch.Facts == nil || ch.Facts.FDs < 0 {
		return "?"
	}
	return strconv.Itoa(ch.Facts.FDs)
}

// rounded is a span in whole seconds.
func rounded(d record.Duration) string { return duration.Text(max(d, 0).D().Truncate(time.Second)) }

// waitsIn is the system call that a process is blocked in, or where the kernel does not tell it, the function that it sleeps in.
func waitsIn(ch *attach.Child) string {
	switch {
	case ch.State == record.StateZombie:
		return "-"
	case ch.Syscall != "":
		return ch.Syscall
	case ch.Wchan != "":
		return ch.Wchan
	case ch.State == record.StateRunning:
		return "runs"
	}
	return "?"
}

func heldBy(ch *attach.Child) string {
	switch h := ch.StdinHolder; {
	case ch.State == record.StateZombie:
		return "-"
	case h != nil && ch.Stdin != attach.HeldBySelf:
		return fmt.Sprintf("%s (%d)", ch.Stdin, h.PID)
	default:
		return string(ch.Stdin)
	}
}

// what is a process in a few words: its role, and its command line in short.
func what(ch *attach.Child) string {
	label := ch.Comm
	if ch.Unit != nil && ch.Role != attach.RoleHelper {
		label = ch.Unit.Label
	}
	left := ""
	if !ch.Below && ch.Role != attach.RoleZombie {
		left = fmt.Sprintf(", now below %d", ch.PPID)
	}
	return fmt.Sprintf("%s %s%s", ch.Role, words.Clean(label, words.MaxName/4), left)
}

func idleFor(ch *attach.Child) string {
	switch {
	case ch.State == record.StateZombie:
		return "-"
	case ch.QuietFor == nil:
		return "?"
	}
	return rounded(*ch.QuietFor)
}

func readAgo(ch *attach.Child) string {
	if ch.State == record.StateZombie {
		return "-"
	}
	return rounded(ch.FactsAge) + " ago"
}

func finding(ch *attach.Child) string {
	if ch.Kind != "" {
		return ch.Kind
	}
	return words.Clean(ch.Note, words.MaxName)
}

// WatchedLines say what a watch shows of each command line: what was launched, what became of it, and what the host uses.
func WatchedLines(v *attach.View) (lines []string) {
	for _, g := range v.Groups {
		if g.Alive+g.Zombies == 0 {
			continue
		}
		name := words.Clean(g.Label, words.MaxName)
		if g.Shell {
			name = "shell " + name
		}
		if g.Like > 0 {
			name += fmt.Sprintf(" (for example pid %d)", g.Like)
		}
		line := fmt.Sprintf("%s: %d alive", name, g.Alive)
		if g.Zombies > 0 {
			line += ", " + text.Count(g.Zombies, "zombie")
		}
		if g.Ended > 0 {
			line += fmt.Sprintf(", %d ended", g.Ended)
		}
		used := fmt.Sprintf("%d used in the last %s", g.Used, duration.Text(g.IdleAfter))
		if v.Looks == 1 { // what is used reads or writes between two looks
			used = "which are used is not known yet"
		}
		lines = append(lines, fmt.Sprintf("%s, launched in %s; %s", line, text.Count(g.Generations, "generation"), used))
	}
	return lines
}

// GrowthLines say what grows below a watched host.
func GrowthLines(v *attach.View) (lines []string) {
	if len(v.Trends) == 0 && v.Looks > 0 {
		return []string{
			fmt.Sprintf("too short: %s in %s; needs %d looks over %s", text.Count(v.Looks, "look"), rounded(record.Duration(v.To-v.From)),
				attach.LeastLooks, duration.Text(attach.LeastSpan)),
		}
	}
	for i := range v.Trends {
		lines = append(lines, growthLine(v, &v.Trends[i]))
	}
	return lines
}

// growthLine has what it grows in an hour, or in a minute where the watch was too short to say what an hour brings.
func growthLine(v *attach.View, t *attach.Trend) string {
	unit, in, format := "an hour", 1.0, "%+.1f"
	if t.InDay == nil {
		unit, in, format = "a minute", 60.0, "%+.2f"
	}
	say, count := func(v float64) string { return fmt.Sprintf(format, v/in) }, func(n int64) string { return fmt.Sprint(n) }
	if t.Of == attach.OfHostMemory || t.Of == attach.OfMemoryBelow {
		say, count = func(v float64) string { return fmt.Sprintf(format+" MiB", v/in/(1<<20)) }, words.Size
	}
	if t.Steps {
		return fmt.Sprintf("%s from %s to %s: it changed too seldom to tell how much it grows", t.Of, count(t.First), count(t.Last))
	}
	grows := "no growth shown"
	switch {
	case t.Grows() && t.Of == attach.OfDescriptors && v.WithServers:
		grows = "grows with the processes below it, which they lead to"
	case t.Grows():
		grows = "grows"
	}
	switch {
	case t.Grows() && t.InDay != nil:
		grows += "; " + count(int64(*t.InDay)) + " in a day"
	case t.Grows():
		grows += "; watch for 10 min to project an hour and a day"
	}
	return fmt.Sprintf("%s %s %s (95%%: %s to %s), from %s to %s: %s",
		t.Of, say(t.Slope), unit, say(t.Low), say(t.High), count(t.First), count(t.Last), grows)
}

// UnreadLines say what could not be read of a watched host's processes, and why.
func UnreadLines(v *attach.View) (lines []string) {
	for _, u := range v.Unread {
		lines = append(lines, fmt.Sprintf("%s of %s: %s%s", u.Column, text.Count(u.Of, "process"), u.Why, whyDenied(u)))
	}
	return lines
}

// whyDenied is what a refusal comes from, as far as that is known.
func whyDenied(u attach.Unread) string {
	if !strings.Contains(u.Why, "not permitted") && !strings.Contains(u.Why, "permission denied") {
		return ""
	}
	if u.Column == "syscall" {
		return " (kernel.yama.ptrace_scope: the kernel tells it to a debugger alone; another user's process, or one that is not dumpable)"
	}
	return " (another user's process, or one that is not dumpable)"
}

// endLine is a command that ends a process if it is still the one that was seen: the same pid with the same start time.
func endLine(id record.Identity) string {
	return fmt.Sprintf(`[ "$(sed 's/.*) //' /proc/%d/stat 2>&- | cut -d' ' -f20)" = %d ] && kill %d`, id.PID, id.Start, id.PID)
}

// EndLines are the commands that end what the findings of a watched host name, launchers first. A zombie can't be ended.
func EndLines(v *attach.View) (lines []string) {
	for _, ch := range v.Children {
		switch {
		case ch.State == record.StateZombie || ch.Kind == "":
		case ch.Unit == nil:
			lines = append(lines, endLine(ch.Identity))
		default:
			for _, id := range ch.Unit.Identities {
				lines = append(lines, endLine(id))
			}
		}
	}
	return lines
}
