package fakeserver

import (
	"fmt"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

// The moments at which a server can do something wrong.
const (
	onStart      = "start"
	onDiscover   = "discover"
	onInitialize = "initialize"
	onList       = "list"
	onCall       = "call"
	onPing       = "ping"
	onEPIPE      = "epipe"
	onEOF        = "eof"
	onTerm       = "term"
	onExit       = "exit"
	onOrder      = "order"
)

// Doc describes a moment or a deed. With names what it goes with: the deeds
// of a moment, the moments of a deed. As are the ways of a deed, the default
// first.
type Doc struct {
	Name string
	Text string
	With []string
	As   []Doc
}

// Moments are the values of Fault.On, in the order of a server's life.
var Moments = momentDocs()

// Deeds are the values of Fault.Do.
var Deeds = deedDocs()

func momentDocs() []Doc {
	docs := []Doc{
		{Name: onStart, Text: "before it reads stdin"},
		{Name: onDiscover, Text: "when it is asked server/discover"},
		{Name: onInitialize, Text: "when it is asked initialize"},
		{Name: onList, Text: "when it is asked tools/list"},
		{Name: onCall, Text: "when it is asked tools/call (of one tool, with tool)"},
		{Name: onPing, Text: "when it is asked ping"},
		{Name: onEPIPE, Text: "when a write to stdout fails because nobody can read it any more"},
		{Name: onEOF, Text: "when it reads the end of stdin"},
		{Name: onTerm, Text: "when it is asked to end by SIGTERM, SIGINT or SIGHUP"},
		{Name: onExit, Text: "when it is about to exit, after the end of stdin or a signal"},
		{Name: onOrder, Text: "when the scenario says so (a break step); not in a script"},
	}
	for i := range docs {
		for _, d := range allDeeds() {
			if contains(d.on, docs[i].Name) {
				docs[i].With = append(docs[i].With, d.name)
			}
		}
	}
	return docs
}

func deedDocs() []Doc {
	var docs []Doc
	for _, d := range allDeeds() {
		docs = append(docs, Doc{Name: d.name, Text: d.text, With: d.on, As: d.as})
	}
	return docs
}

// Passive reports whether the server only refuses to react: such a fault can
// be seen, but not be waited for.
func (f Fault) Passive() bool {
	d, ok := deedNamed(f.Do)
	return ok && d.passive != nil && d.passive(f.On)
}

// Breaks reports whether no working session can be expected of the server
// after f: what the host does to it from there on is no collateral damage.
func (f Fault) Breaks() bool {
	d, ok := deedNamed(f.Do)
	return ok && d.breaks != nil && d.breaks(f.On)
}

// breaksIn is Breaks for a server of the given era. Where there still is
// initialize, a client falls back to it from a failed discovery, unless there
// is no server any more to fall back to.
func (f Fault) breaksIn(era string) bool {
	if f.On == onDiscover && era != EraModern && !contains(muting, f.Do) {
		return false
	}
	return f.Breaks()
}

// variant is the way in which it is done; "" where there is only one.
func (f Fault) variant() string {
	if d, _ := deedNamed(f.Do); f.As == "" && len(d.as) > 0 {
		return d.as[0].Name
	}
	return f.As
}

// muting are the deeds after which nothing comes from a server any more.
var muting = []string{"exit", "close-stdout", "partial", "stop-reading"}

// Forestalls reports whether no host gets past f to what a server of this era
// is asked next.
func (f Fault) Forestalls(era string) bool {
	d, ok := deedNamed(f.Do)
	return ok && f.breaksIn(era) && !d.passable && f.After == 0 && f.Tool == ""
}

// announcement is f as it is told to the bench.
func (f Fault) announcement(era string) birth.Fault {
	return birth.Fault{On: f.On, Do: f.Do, Detail: f.detail(), Passive: f.Passive(), Breaks: f.breaksIn(era)}
}

func (f Fault) detail() string {
	var parts []string
	add := func(set bool, format string, v any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	add(f.variant() != "", "as %s", f.variant())
	add(f.Count != 0, "%d of them", f.Count)
	add(f.Tool != "", "tool %s", f.Tool)
	add(f.For != 0, "for %s", time.Duration(f.For))
	add(f.MiB != 0 && (f.Do == "grow" || f.Do == "swell"), "to %d MiB", f.MiB)
	add(f.MiB != 0 && f.Do != "grow" && f.Do != "swell", "%d MiB", f.MiB)
	add(f.Step != 0, "by %d MiB", f.Step)
	add(f.Each != 0, "each %s", time.Duration(f.Each))
	add(f.Do == "exit", "status %d", f.Code)
	add(f.After != 0, "after %d", f.After)
	add(f.Launch != 0, "on launch %d", f.Launch)
	add(f.Every != 0, "on every launch divisible by %d", f.Every)
	add(f.Probability != 0, "with probability %g", f.Probability)
	return strings.Join(parts, ", ")
}

// pause is what each says, or else the given one.
func (f Fault) pause(otherwise time.Duration) time.Duration {
	if f.Each > 0 {
		return time.Duration(f.Each)
	}
	return otherwise
}

func (f Fault) mibOr(otherwise int) int {
	if f.MiB > 0 {
		return f.MiB
	}
	return otherwise
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
