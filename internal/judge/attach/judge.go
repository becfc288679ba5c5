package attach

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// mostRises is how often the number of dangling handles may have risen: a client that is just being closed has some, too.
const mostRises = 2

func (w *Watch) judge(v *View, units []*Unit) {
	w.judgeGroups(v)
	for _, u := range units {
		if u.Alive() {
			w.judgeUnit(v, u)
		}
	}
	w.judgeZombies(v)
	w.openFlat(v)
	w.judgeHandles(v)
}

func (v *View) broken(ch *Child, b *breach.Breach) {
	b.Process, b.Comm, b.Evidence, b.At, b.Cause, b.Like = ch.Identity, ch.Comm, ch.Facts, []int64{v.To}, record.CauseWatched, b.Kind
	if ch.State == record.StateZombie {
		b.Evidence = nil // it is of before its death
	}
	ch.Kind = b.Kind
	v.Breaches = append(v.Breaches, b)
}

// open says why a law can't be judged.
func (v *View) open(law, reason string) {
	v.Open = append(v.Open, breach.Unjudged{Law: law, Reason: reason})
}

// name is how a process is called in a value.
func name(ch *Child) string { return fmt.Sprintf("pid %d (%s)", ch.PID, prose.Plain(ch.Comm)) }

func (w *Watch) judgeGroups(v *View) {
	for _, g := range v.Groups {
		found, why := g.superseded(w)
		if g.Shell {
			found, why = nil, "may be tasks"
		}
		for _, u := range found {
			u.Kind = "superseded"
			ch := u.top()
			v.broken(ch, &breach.Breach{
				Law: "L1", Kind: u.Kind, Label: u.Label,
				Value: fmt.Sprintf("%s: started %s before the end of the watch, not used for %s, %s launched since",
					name(ch), prose.Span(w.to-u.Born), prose.Span(w.to-u.Quiet), text.Count(u.Newer, "newer one")),
				Narrative: fmt.Sprintf(
					"%s has neither read nor written since before a newer server with the same command line was launched, and the host uses a newer one. "+
						"The host still holds the write end of its stdin, so that the server can't know.", prose.Capital(name(ch))),
			})
		}
		if why != "" {
			w.note(g, why)
		}
	}
}

// note says of idle units of a group what is known of them.
func (w *Watch) note(g *Group, why string) {
	for _, u := range g.idle(w, g.replaced()) {
		u.top().Note = fmt.Sprintf("%d newer, %s", u.Newer, why)
	}
}

// judgeUnit finds servers whose stdin is no longer the host's to close, or at its end.
func (w *Watch) judgeUnit(v *View, u *Unit) {
	ch := u.top()
	b := w.breachOf(v, u, ch)
	switch {
	case b == nil:
	case u.shell:
		ch.Note = "no server, may be a task"
		v.tasks[b.Law] = append(v.tasks[b.Law], name(ch))
	default:
		b.Label = u.Label
		v.broken(ch, b)
	}
}

// breachOf is what a launch that runs breaks if it is a server, or nil.
func (w *Watch) breachOf(v *View, u *Unit, ch *Child) *breach.Breach {
	switch {
	case ch.Stdin == HeldByHost:
		return nil
	case w.host.Exited && ch.wasIn:
		if w.passed(w.host.exitedAt) {
			return w.leftBehind(ch)
		}
	case (ch.Stdin == HeldBySibling || ch.Stdin == HeldBySelf) && w.over(w.closedSince(u, ch)):
		return &breach.Breach{
			Law: "L1", Kind: "eof-withheld", Value: fmt.Sprintf("%s: the host holds no write end of its stdin, %s does", name(ch), holderName(ch)),
			Narrative: fmt.Sprintf(
				"The host has closed the stdin of %s, but %s still holds a copy of the write end, so that the server sees no EOF.",
				name(ch), holderName(ch)),
		}
	case u.stray():
		ch.Note = "of an earlier life, or of another host"
	case ch.Stdin == HeldByNobody:
		return w.runsOn(v, u, ch)
	}
	return nil
}

// passed says that the settle time has passed since then.
func (w *Watch) passed(since int64) bool {
	return since != never && w.to-since >= int64(w.limits.Settle)
}

// over says that the host has had the settle time since then: for as long as it waits for a processor it can end and reap nothing.
func (w *Watch) over(since int64) bool {
	return w.passed(since) && w.to-since-w.starved(since) >= int64(w.limits.Settle)
}

// starved is for how long the host could not do what it wanted to since then, because the processors were busy: 0 where no look shows it.
func (w *Watch) starved(since int64) int64 {
	i := sort.Search(len(w.loads), func(i int) bool { return w.loads[i].t > since })
	first := max(0, i-1) // what it waits for when a process ends may have begun before
	if first >= len(w.loads)-1 {
		return 0
	}
	late := record.Duration(0)
	for _, l := range w.loads[first:] {
		late = max(late, l.Late)
	}
	excuse, _ := w.loads[len(w.loads)-1].Excuse(w.loads[first].Load, late)
	return int64(excuse)
}

// runsOn is what a process breaks whose stdin is at its end, or nil.
func (w *Watch) runsOn(v *View, u *Unit, ch *Child) *breach.Breach {
	switch {
	case !ch.Below && w.over(ch.First) && w.runsTheSame(u):
		what := fmt.Sprintf("its parent is process %d", ch.PPID)
		return &breach.Breach{
			Law: "L2", Kind: "deaf", Value: fmt.Sprintf("%s: nobody holds the write end of its stdin, and %s", name(ch), what),
			Narrative: fmt.Sprintf(
				"%s runs what a server of the host runs, but %s. Its stdin is at its end, and it runs on. It was below the host before.",
				prose.Capital(name(ch)), what),
		}
	case !ch.Below:
	case !w.isServer(u):
		if since, known := ch.quietSince(); known && w.over(max(since, ch.First)) {
			ch.Note = "stdin at its end, may be a tool"
			v.fed = append(v.fed, name(ch))
		}
	case w.passed(w.closedSince(u, ch)) && !w.over(w.closedSince(u, ch)):
		v.open("L1", fmt.Sprintf("the stdin of %s is at its end, and the host had no processor for a part of the time since", name(ch)))
	case w.over(w.closedSince(u, ch)):
		return &breach.Breach{
			Law: "L1", Kind: "not-escalated", Value: fmt.Sprintf("%s: its stdin is at its end, and it runs on", name(ch)),
			Narrative: fmt.Sprintf("The host has closed the stdin of %s, which runs on, and has not ended it.", name(ch)),
		}
	}
	return nil
}

// leftBehind is what a process breaks that runs on after the host has ended.
func (w *Watch) leftBehind(ch *Child) *breach.Breach {
	kind := "deaf"
	if ch.Stdin != HeldByNobody {
		kind = "orphan"
	}
	return &breach.Breach{
		Law: "L2", Kind: kind,
		Value: fmt.Sprintf("%s: still there %s after the host ended; its stdin is held by: %s",
			name(ch), prose.Span(w.to-w.host.exitedAt), ch.Stdin),
		Narrative: fmt.Sprintf("The host ended while it was watched, and %s runs on.", name(ch)),
	}
}

func holderName(ch *Child) string {
	if ch.Stdin == HeldBySelf {
		return "the server itself"
	}
	return fmt.Sprintf("pid %d (%s)", ch.StdinHolder.PID, prose.Plain(string(ch.StdinHolder.Role)))
}

// closedSince is when a server's stdin was last seen open that is closed now: while it was watched, or before, where something shows it to
// be a server. Of any other process it is never: a tool that got its input and works on it is nothing odd.
func (w *Watch) closedSince(u *Unit, ch *Child) int64 {
	if ch.heldUntil != never {
		return ch.heldUntil
	}
	if w.isServer(u) {
		return max(ch.First, w.from)
	}
	return never
}

// isServer says that something shows a unit to be a server: the host holds the stdin of another one of its command line, or its program
// or package is called one. A tool that was fed through a pipe, and works on what it got, looks like a server that does not heed
// the end of its stdin, also where it runs again and again.
func (w *Watch) isServer(u *Unit) bool {
	return !u.shell && w.runsTheSame(u) || slices.ContainsFunc(u.Members, func(ch *Child) bool { return calledServer(ch.Args) })
}

// runsTheSame says of a server whose stdin the host does not hold that the host holds that of another one of the same command line.
func (w *Watch) runsTheSame(u *Unit) bool {
	return slices.ContainsFunc(u.group.units, func(o *Unit) bool { return o.Alive() && o.top().Stdin == HeldByHost })
}

func (w *Watch) judgeZombies(v *View) {
	for _, ch := range v.Children {
		if !w.passed(ch.zombieSince) || w.host.Exited {
			continue
		}
		if ch.PPID != w.host.PID {
			ch.Note = fmt.Sprintf("a zombie of pid %d, which alone can wait for it", ch.PPID)
			continue
		}
		if !w.over(ch.zombieSince) {
			ch.Note = fmt.Sprintf("a zombie for %s, while the host waited for a processor", prose.Span(w.to-ch.zombieSince))
			v.open("L4", fmt.Sprintf("%s was not waited for in %s, but the host had no processor for %s of that",
				name(ch), prose.Span(w.to-ch.zombieSince), prose.Span(w.starved(ch.zombieSince))))
			continue
		}
		v.broken(ch, &breach.Breach{
			Law: "L4", Kind: "zombie", Label: "", Value: fmt.Sprintf("%s: a zombie for %s at least", name(ch), prose.Span(w.to-ch.zombieSince)),
			Narrative: fmt.Sprintf("%s is dead, and the host, which is its parent, has not waited for it in %s.",
				prose.Capital(name(ch)), prose.Span(w.to-ch.zombieSince)),
		})
	}
}

func (w *Watch) judgeHandles(v *View) {
	switch held := facts.Floor(w.dangling); {
	case w.host.Exited || len(held) < 2:
		v.open("L5", "what the host holds of processes that are gone was not seen twice")
	case facts.Rises(held) > mostRises:
		v.Breaches = append(v.Breaches, &breach.Breach{
			Law: "L5", Kind: "fd-leak", Cause: record.CauseWatched, At: []int64{v.To}, Like: "fd-leak",
			Value: fmt.Sprintf("the host holds %d pipe ends and pidfds of processes that are gone, %d at first", held[len(held)-1], held[0]),
			Narrative: fmt.Sprintf(
				"The host held %d pipe ends whose other end nobody has, and pidfds of processes that were waited for, and %d in the end: "+
					"the number rose %s and never fell back.", held[0], held[len(held)-1], text.Count(facts.Rises(held), "time")),
		})
	default:
		w.openHandles(v)
	}
}

// openHandles says why L5 can't be called kept where the host has more and more descriptors: those that lead to processes below it
// come and go with them, and of others nobody can say from outside what they are for.
func (w *Watch) openHandles(v *View) {
	all, own := w.trend(OfDescriptors), w.trend(ofOwnDescriptors)
	flat := !slices.ContainsFunc(v.Open, func(u breach.Unjudged) bool { return u.Law == "L1" }) &&
		!slices.ContainsFunc(v.Breaches, func(b *breach.Breach) bool { return b.Law == "L1" })
	switch {
	case all == nil, !all.Grows():
		v.TooShort = w.to-w.from < int64(LeastSpan)
	case own == nil:
		v.open("L5", "the host has more and more descriptors, and which of them lead to processes below it was not seen often enough")
	case own.Grows() && facts.Rises(facts.Floor(w.points[ofOwnDescriptors].values)) > mostRises:
		v.open("L5", fmt.Sprintf(
			"the host has more and more descriptors that lead to no process below it (%d, %d at first), and nothing shows what they are for",
			own.Last, own.First))
	case !flat && all.Last-all.First > own.Last-own.First:
		v.Open = append(v.Open,
			breach.Unjudged{Law: "L5", Reason: "the host has more and more descriptors, which lead to the servers that it keeps", With: "L1"})
	case own.Grows(): // by a step or two
	default:
		v.WithServers = true
	}
}

// openFlat says why L1 can't be called kept: there are idle servers of which nobody can say whose they are, or what is needed
// can't be read. For the tasks that the host has left L2 can't be called kept either.
func (w *Watch) openFlat(v *View) {
	open := w.openBlind(v)
	for _, g := range v.Groups {
		open = append(open, w.openGroup(g)...)
	}
	if len(v.fed) > 0 {
		open = append(open, fmt.Sprintf(
			"the stdin of %s is at its end, and nothing shows whether that is a server which does not heed it, or a tool that works on its input",
			prose.List(v.fed)))
	}
	undone := func(left []string) string {
		if len(left) > 1 {
			return fmt.Sprintf("the shells %s still run; they may be a task's", prose.List(left))
		}
		return fmt.Sprintf("the shell %s still runs; it may be a task's", left[0])
	}
	if left := v.tasks["L1"]; len(left) > 0 {
		open = append(open, undone(left))
	}
	if left := v.tasks["L2"]; len(left) > 0 {
		v.open("L2", undone(left))
	}
	switch {
	case w.to-w.from < int64(w.limits.Settle):
		short := "it was watched for less than " + prose.Span(w.limits.Settle)
		v.open("L1", short)
		v.open("L4", short)
	case len(open) > 0:
		v.open("L1", prose.List(open))
	case !slices.ContainsFunc(v.Groups, func(g *Group) bool { return !g.Shell }):
		v.open("L1", "it had no server while it was watched")
	}
}

// openGroup says what nobody can say of the equal servers, or shells, of a command line.
func (w *Watch) openGroup(g *Group) (open []string) {
	idle, blind := 0, 0
	for _, u := range g.units {
		switch {
		case !u.Alive() || u.Kind != "" || g.Alive < 2 || u.stray() || u.top().Stdin == HeldByNobody:
		case !u.QuietKnown || u.top().Stdin == HoldUnknown:
			blind++
		case w.isIdle(u):
			idle++
		}
	}
	noun, owner := "server", "session"
	if g.Shell {
		noun, owner = "shell", "task"
	}
	if blind > 0 {
		open = append(open, fmt.Sprintf("it can't be seen whether the host uses %s of %s", text.Count(blind, noun), g.Label))
	}
	if idle > 0 {
		open = append(open, fmt.Sprintf("%d of %s of %s were idle, and nothing shows whether a %s has them",
			idle, text.Count(g.Alive, "equal "+noun), g.Label, owner))
	}
	return open
}

// isIdle says that the host does not use a unit. Its handshake is no use of it, and its first call may be still to come.
func (w *Watch) isIdle(u *Unit) bool {
	return w.to-u.Born >= int64(fresh) && (!u.Used || u.Quiet < max(w.from, u.Born)+int64(together))
}

// openBlind says that there are processes of which it can't be seen whether they are servers.
func (w *Watch) openBlind(v *View) (open []string) {
	blind := 0
	for _, ch := range v.Children {
		if ch.Role == RoleUnknown && ch.Facts != nil { // else it has only just come, or gone
			blind++
		}
	}
	if blind > 0 {
		are := "are servers"
		if blind == 1 {
			are = "is a server"
		}
		open = append(open, fmt.Sprintf("it can't be seen whether %s below the host %s", text.Count(blind, "process"), are))
	}
	return open
}

// unread collects what could not be read, by column.
func (v *View) unread() {
	counts := map[[2]string]int{}
	for _, ch := range v.Children {
		if ch.State == record.StateZombie {
			continue
		}
		for _, u := range ch.Unseen {
			column, why, _ := strings.Cut(u, ": ")
			counts[[2]string{column, why}]++
		}
	}
	for key, n := range counts {
		v.Unread = append(v.Unread, Unread{key[0], key[1], n})
	}
	slices.SortFunc(v.Unread, func(a, b Unread) int { return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(a.Why, b.Why)) })
}
