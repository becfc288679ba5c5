// Package breach is what breaks a law, whoever is tried: a host, a server, or a host that was running already. The three judges say
// it in the same words, and package verdict makes findings of it.
package breach

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// Breach is one process, or one measurement, that breaks a law.
type Breach struct {
	Law, Kind, Label string
	Cause            record.Cause

	Was        Was
	Fix        string          // instead of what the kind says
	When       string          // the cause in a title, where the catalogue has no text for it
	Server     *history.Server // nil where the ledger knows none
	Comm       string          // the process's name, where there is no server
	Process    record.Identity // likewise
	Value      string          // one line on this very breach
	Row        *Row            // the same in parts, where it is about a process
	At         []int64
	Took       Took
	Checkpoint *facts.Checkpoint
	Step       *history.Step // of L8
	Evidence   *record.Evidence
	Host       *history.Host // the life that left it; L2
	Narrative  string        // what is known of it, in sentences
	Like       string        // the same for breaches that have the same narrative
}

// Was is what earlier versions took for the kind and the cause, or nothing.
type Was struct {
	Kind  string
	Cause record.Cause
}

// Took is from when to when something took longer than its limit; nothing where that is not told.
type Took struct {
	From, To int64
	Limit    time.Duration
}

// Over is how long it was over its limit at the least.
func (t Took) Over() int64 { return t.To - t.From - int64(t.Limit) }

// Row is a value of a finding in parts: a process, and what was seen of it.
type Row struct {
	Name    string // "flaky#2"
	PID     int
	Session string   // "" where the value names none
	Seen    []string // "still running 3 s after the checkpoint began", "3.0 MiB"
}

// Saw says what was seen of a process, which breaks a law. session is "" where it does not matter.
func (b *Breach) Saw(s *history.Server, id record.Identity, comm, session string, seen ...string) {
	b.Row = &Row{Name: comm, PID: id.PID, Session: session, Seen: seen}
	if s != nil {
		b.Row.Name, b.Row.PID = s.ID, s.Birth.PID
	}
	b.Value = prose.Process(s, id, comm)
	if session != "" {
		b.Value += " of session " + prose.Plain(session)
	}
	b.Value += ": " + strings.Join(seen, ", ")
}

// SawServer is Saw for a server.
func (b *Breach) SawServer(s *history.Server, session string, seen ...string) {
	b.Saw(s, s.Birth.Identity, "", session, seen...)
}

// Print is the fingerprint, the same in every run that shows the same cause.
func (b *Breach) Print() string { return Print(b.Law, b.Kind, b.Label, b.Cause) }

// Print is the fingerprint of breaches with one cause.
func Print(law, kind, label string, cause record.Cause) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{law, kind, label, string(cause)}, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// Unjudged is a law that can't be judged, with the reason.
type Unjudged struct {
	Law, Reason string
	With        string // the law that decides this one, too; "" is none
}

// Why is why a law can't be judged, by the first that says so, or "".
func Why(all []Unjudged, law string) string {
	if i := slices.IndexFunc(all, func(u Unjudged) bool { return u.Law == law }); i >= 0 {
		return all[i].Reason
	}
	return ""
}

// Book takes the breaches of a run, in the order in which they were found.
type Book struct {
	*facts.Facts
	Breaches []*Breach
	Unsure   []*Breach // that may be the machine's
}

// Broken takes in a breach.
func (b *Book) Broken(of *Breach) { b.Breaches = append(b.Breaches, of) }

// Broke says that a law was broken.
func (b *Book) Broke(law string) bool {
	return slices.ContainsFunc(b.Breaches, func(of *Breach) bool { return of.Law == law })
}

// Late takes in a breach that is one by the clock alone: from one time to another it took longer than it may. Where
// the machine was so starved meanwhile that it need not have been the host, it is a doubt.
func (b *Book) Late(of *Breach, took Took) {
	of.Took = took
	if b.MayBeTheMachines(took.From, took.To, took.Limit) {
		b.Unsure = append(b.Unsure, of)
		return
	}
	b.Broken(of)
}

// Excuse takes in a breach that may be the machine's, by what went on between two times.
func (b *Book) Excuse(of *Breach, from, to int64) {
	of.Took = Took{From: from, To: to}
	b.Unsure = append(b.Unsure, of)
}

// IsUnsure says that a breach of a law may be the machine's.
func (b *Book) IsUnsure(law string) bool {
	return slices.ContainsFunc(b.Unsure, func(of *Breach) bool { return of.Law == law })
}
