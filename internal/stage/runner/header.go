package runner

import (
	"cmp"
	"os"
	"runtime"
	"slices"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/stage/proc"
	"github.com/leakbench/leakbench/internal/stage/socket"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/scenarios"
)

func (r *run) header() record.Header {
	witness := r.witness()
	witness.Ledger = socket.Attested
	return record.Header{
		ID: r.id, Tool: r.Tool, Seed: r.Seed,
		System: record.System{
			OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: proc.Kernel(), CPUs: runtime.NumCPU(), UID: os.Getuid(),
		},
		Witness: witness,
		Scenario: record.Scenario{
			Name: r.Scenario.Name, Title: r.Scenario.Title, File: r.Scenario.File, Reports: r.Scenario.Reports, Source: r.Scenario.Source,
			Level: r.Scenario.Level, Part: r.Scenario.Part, Omitted: r.Scenario.Omitted.String(),
		},
		Host:   recorded(r.Host),
		Limits: r.limits, Plan: r.plan(), Command: redact.Args(r.Command), Again: r.Again,
	}
}

func recorded(h host.Spec) record.Host {
	out := h.Recorded()
	out.Command = redact.Args(out.Command)
	return out
}

// Limits are those of the run, as far as they are known before the host has said what it needs.
func (p Params) Limits() record.Limits { return effectiveLimits(p, p.Host.Profile) }

// effectiveLimits are the scenario's, with the times that the host declares for itself and those that the user insists on.
func effectiveLimits(p Params, profile record.Profile) record.Limits {
	l := p.Scenario.Limits
	own := p.Host.Scenarios[p.Scenario.Name]
	l.Settle = cmp.Or(p.Settle, own.Settle, profile.Settle, l.Settle)
	l.Confirm = cmp.Or(p.Confirm, own.Confirm, profile.Confirm, l.Confirm)
	l.Close = cmp.Or(own.Close, max(l.Close, profile.Settle))
	l.Stop = cmp.Or(own.Stop, max(l.Stop, profile.Stop))
	if p.Host.File != "" { // which says how long it may take, if only by saying nothing
		l.Stop = cmp.Or(own.Stop, profile.Stop, l.Stop)
	}
	if n := p.Host.Launches; n > 1 {
		l.SpawnsPerSession, l.SpawnsPerMinute = l.SpawnsPerSession*n, l.SpawnsPerMinute*n
	}
	switch {
	case p.Host.Recorded().Servers == record.PerRequest:
		l.SpawnsPerSession, l.SpawnsPerMinute = 0, 0 // it is its way
	case p.Host.SessionsUnknown() && l.SpawnsPerMinute == 0:
		l.SpawnsPerMinute = commandSpawns(p.Scenario)
	}
	if own.SpawnsPerSession > 0 {
		l.SpawnsPerSession = own.SpawnsPerSession
	}
	if own.SpawnsPerMinute > 0 {
		l.SpawnsPerMinute = own.SpawnsPerMinute
	}
	l.Controls = true
	return l
}

// declared is the profile that the bench knew, with what the host itself says in its place.
func declared(known record.Profile, said driver.Profile) record.Profile {
	p := host.ProfileOf(said)
	p.Settle, p.Confirm, p.Stop = cmp.Or(p.Settle, known.Settle), cmp.Or(p.Confirm, known.Confirm), cmp.Or(p.Stop, known.Stop)
	p.Resident, p.Spare = max(p.Resident, known.Resident), max(p.Spare, known.Spare)
	p.Idle, p.Renewal = cmp.Or(p.Idle, known.Idle), cmp.Or(p.Renewal, known.Renewal)
	return p
}

// commandSpawns is how often a command may launch its server within a minute, where the scenario does not say so: its
// sessions are its own, but a host that launches a server a second for no reason is in a hot loop.
func commandSpawns(s *scenarios.Scenario) int {
	reasons := 0
	for _, step := range s.Expand() {
		if step.Op == record.OpBreak {
			reasons++
		}
	}
	return 60 + 3*reasons
}

// plan is the scenario's, less the laws that can't be judged.
func (r *run) plan() record.Plan {
	plan := r.Scenario.Plan(r.Seed)
	plan.Laws, plan.Evidence = r.laws(), true
	if r.Caller != nil {
		plan.Checkpoints = slices.DeleteFunc(plan.Checkpoints, func(name string) bool { return name == scenarios.FinalCheckpoint })
		if r.Caller.Stdin != nil {
			plan.Checkpoints = append(plan.Checkpoints, allClosed)
		}
	}
	return plan
}

// laws are those that the scenario is about, less those that can't be judged by the nature of the host: where
// sessions are unknown, nobody can say which one was live, or was opened anew; and those that the scenario turns off.
func (r *run) laws() []string {
	return slices.DeleteFunc(slices.Clone(r.Scenario.Laws), func(id string) bool {
		return r.Host.SessionsUnknown() && slices.Contains([]string{"L3", "L10"}, id) || r.limits.Severity[id] == record.SeverityOff
	})
}
