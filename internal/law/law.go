// Package law is the catalogue of what a correct host obeys: the laws, the kinds of ways to break them, and the
// causes that findings name, each with all that is said of it. It is data, in the folder texts. How a law is judged is package verdict's.
package law

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// Law is one of the laws that a correct host obeys. Its id is stable.
type Law struct {
	ID    string // "L1"
	Name  string // "flat"
	Says  string
	Why   string
	Kinds []string // ways to break it, in the order of an explanation

	Severity record.Severity // of a breach, where the scenario says nothing else
	Unit     string          // of its breaches in a benchmark's line
	Shows    Subject
	Expected string // of a finding whose kind says nothing else; see Fill
	Found    string // likewise
}

// Subject is what became of the processes that a finding names. "" is nothing.
type Subject string

// The subjects.
const (
	Left     Subject = "left"     // they should be gone
	Harmed   Subject = "harmed"   // they should have been left alone
	Unreaped Subject = "unreaped" // they are dead and were not waited for
	Faulty   Subject = "faulty"   // they did wrong while they were wanted: nothing has leaked
)

// Kind is a way to break a law. Its id is stable.
type Kind struct {
	ID        string // "superseded"
	Law       string
	Also      []string // other laws that it breaks, in other circumstances
	Class     string   // the letter of the field reports' taxonomy: "A"
	Title     string   // "a superseded server is still running"
	Headline  string   // of a run, with its host as {host}: see Fill
	Signature string   // how it is recognised
	Why       string
	Fix       string
	Windows   string          // the fix on Windows, where the other one speaks of what Windows does not have
	Reports   []string        // public threads that tell of it, by their ids
	Busy      bool            // its processes use a processor, whatever a thread of theirs waits in when it is looked at
	Early     bool            // its processes were given up before it was known what becomes of them
	Severity  record.Severity // of a breach, where that is not the law's; "" is
	Findings  []Wording       // the first one that fits is a finding's
}

// Wording is what a finding says, as templates: see Fill.
type Wording struct {
	Law   string       // that it is for; "" is the kind's only one
	Cause record.Cause // that it is for; "" is any
	Title string       // "{n server} of {label} {was|were} killed {cause}"
	// Expected and Found are the law's, where they are empty.
	Expected, Found string
	// Value and Narrative are what is said of one process, where a template does.
	Value, Narrative string
}

// All are the laws for hosts, in the order in which they are judged. Those for servers are Servers.
func All() []Law { return slices.Clone(all().Laws) }

// Servers are the laws for servers, in the order in which `leakbench server` judges them.
func Servers() []Law { return slices.Clone(all().servers) }

// IDs are those of the laws for hosts.
func IDs() []string { return ids(all().Laws) }

// EveryID are the ids of all laws: those for hosts, and those for servers.
func EveryID() []string { return append(IDs(), ids(all().servers)...) }

func ids(laws []Law) []string {
	ids := make([]string, len(laws))
	for i := range laws {
		ids[i] = laws[i].ID
	}
	return ids
}

// Of is the law of an id. One of a later version has nothing but its id.
func Of(id string) Law {
	for _, table := range [][]Law{all().Laws, all().servers} {
		if i := slices.IndexFunc(table, func(l Law) bool { return l.ID == id }); i >= 0 {
			return table[i]
		}
	}
	return Law{ID: id}
}

// Kinds are the ways to break a law that the bench tells apart, in the order of the laws.
func Kinds() []Kind { return slices.Clone(all().Kinds) }

// KindOf is the kind of an id. One of a later version has nothing but its id.
func KindOf(id string) Kind {
	if i := slices.IndexFunc(all().Kinds, func(k Kind) bool { return k.ID == id }); i >= 0 {
		return all().Kinds[i]
	}
	return Kind{ID: id}
}

// Doubts are the reasons for doubt, in the order of the bench's life: preparing, recording, judging.
func Doubts() []Doubt { return slices.Clone(all().Doubts) }

// DoubtOf is the doubt of a code. One of a later version has nothing but its code.
func DoubtOf(code record.DoubtCode) Doubt {
	if i := slices.IndexFunc(all().Doubts, func(d Doubt) bool { return d.Code == code }); i >= 0 {
		return all().Doubts[i]
	}
	return Doubt{Code: code}
}

// CauseOf is what is said of a cause; nothing of one that no text shows.
func CauseOf(c record.Cause) Cause {
	if i := slices.IndexFunc(all().Causes, func(own Cause) bool { return own.Code == c }); i >= 0 {
		return all().Causes[i]
	}
	return Cause{}
}

// FixOn is what to do about the cause on a system: "windows", or another one.
func (c Cause) FixOn(os string) string {
	if os == record.Windows && c.Windows != "" {
		return c.Windows
	}
	return c.Fix
}

// FixOn is what to do about the kind on a system.
func (k *Kind) FixOn(os string) string {
	if os == record.Windows && k.Windows != "" {
		return k.Windows
	}
	return k.Fix
}

// LadderOn is the order in which a server is ended on a system.
func LadderOn(os string) string {
	if os == record.Windows {
		return "stdin EOF, a wait, then the end of its job"
	}
	return "stdin EOF, a wait, SIGTERM, a wait, then SIGKILL"
}

// timed are the kinds that are breaches by the clock, of laws that are not.
var timed = []string{"late", "late-reaped", "still-running", "still-zombie", "silent", "eof-late", "term-late", "epipe-late", "helper-late"}

// Timed says that a breach of the kind is one by the clock: how long something took, or in which moment it was done.
func (k *Kind) Timed() bool {
	return k.Law == "L8" || k.Law == "L9" || k.Law == "S7" || slices.Contains(timed, k.ID)
}

// Wording is that of a finding of the kind under a law.
func (k *Kind) Wording(law string, cause record.Cause) Wording {
	var w Wording
	if i := slices.IndexFunc(k.Findings, func(own Wording) bool {
		return (own.Law == "" || own.Law == law) && (own.Cause == "" || own.Cause == cause)
	}); i >= 0 {
		w = k.Findings[i]
	}
	l := Of(law)
	w.Expected, w.Found = cmp.Or(w.Expected, l.Expected), cmp.Or(w.Found, l.Found)
	return w
}
