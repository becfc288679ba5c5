package model

import (
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// Impact is how many processes the errors of a verdict are about.
type Impact struct {
	Left     int // should be gone
	Harmed   int // should have been left alone
	Unreaped int // were never waited for
	Faults   int // did wrong while they were wanted
	Other    int // errors about anything else
	// Early says that all of them are about processes that were given up before it was known what becomes of them.
	Early bool
}

// ImpactOf counts each server once, in however many findings it stands.
func ImpactOf(v *verdict.Verdict) Impact {
	var all Impact
	settled := false
	into := map[law.Subject]*int{law.Left: &all.Left, law.Harmed: &all.Harmed, law.Unreaped: &all.Unreaped, law.Faulty: &all.Faults}
	type process struct {
		shows law.Subject
		name  string
	}
	seen := map[process]bool{}
	for i := range v.Findings {
		f := &v.Findings[i]
		if !f.IsError() {
			continue
		}
		kind := law.KindOf(f.Kind)
		all.Early, settled = all.Early || kind.Early, settled || !kind.Early
		n := into[law.Of(f.Law).Shows]
		if n == nil {
			n = &all.Other
		}
		*n += max(0, f.Count-len(f.Servers)) // what has no certificate has no name here
		for _, name := range f.Servers {
			if p := (process{law.Of(f.Law).Shows, name}); !seen[p] {
				seen[p] = true
				*n++
			}
		}
	}
	all.Early = all.Early && !settled
	return all
}

// fault is the word for a server that gives no answer, or a wrong one, and leaks nothing.
const fault = "fault"

// givenUp is the word for processes that may yet end: nobody has waited for that.
const givenUp = "still running"

// Word is the outcome as a person reads it: a host that killed what it should have left alone has not just leaked, and a server that
// does not answer has not leaked at all. Nobody knows it of one that was given up.
func (i Impact) Word(o verdict.Outcome) string {
	switch {
	case o == verdict.Leak && i.Early:
		return givenUp
	case o == verdict.Leak && i == Impact{Faults: i.Faults} && i.Faults > 0:
		return fault
	case o != verdict.Leak || i.Harmed == 0:
		return string(o)
	case i.Left+i.Unreaped > 0:
		return "leak and kill"
	}
	return "kill"
}

// Headline says of a run what its gravest finding comes to, with the host as the subject.
func (s *Run) Headline() string {
	f := &s.Ordered[0]
	head := law.KindOf(f.Kind).Headline
	if head == "" {
		return f.Title
	}
	text := law.Fill(head, f.Count, law.Values{"host": s.Header.Host.Name})
	if strings.HasPrefix(head, "{") {
		return text // a host's name is written as it is
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// AdviceOn is what to do about a doubt of the run.
func (s *Run) AdviceOn(code record.DoubtCode) string {
	launched := len(s.Servers) > 0
	for _, want := range s.Header.Plan.Labels {
		launched = launched && slices.ContainsFunc(s.Servers, func(srv *Server) bool { return srv.Label == want.Label })
	}
	return law.DoubtOf(code).Advice(launched)
}

// Advice is what to do first about a run, "" where nothing is to be done.
func (s *Run) Advice() string {
	v := &s.Verdict
	switch {
	case v.Outcome == verdict.Inconclusive && len(v.Doubts) > 0:
		return s.AdviceOn(v.Doubts[0].Code)
	case len(s.Ordered) > 0:
		first, _, more := strings.Cut(s.Ordered[0].Fix, ". ")
		if more {
			first += "."
		}
		return first
	}
	return ""
}
