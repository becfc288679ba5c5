package host

import (
	"slices"

	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/scenarios"
)

func (r *run) header() record.Header {
	witness := r.witness()
	witness.Ledger = socket.Attested
	return record.Header{
		Tool: r.Tool, Seed: r.Seed, Witness: witness,
		Scenario: record.Scenario{
			Name: r.Scenario.Name, Title: r.Scenario.Title, File: r.Scenario.File, Reports: r.Scenario.Reports, Source: r.Scenario.Source,
			Level: r.Scenario.Level, Part: r.Scenario.Part, Omitted: r.Scenario.Omitted.String(),
		},
		Host:   r.recorded(),
		Limits: r.limits, Plan: r.plan(), Command: r.Command, Again: r.Again, Soak: r.Soak.recorded(),
	}
}

func (r *run) recorded() record.Host {
	out := r.Host.Recorded()
	out.Servers = r.sharing
	return out
}

// sessionsUnknown says that the host's servers can't be told apart by session.
func (r *run) sessionsUnknown() bool {
	return record.Host{Kind: r.Host.Kind, Servers: r.sharing}.SessionsUnknown()
}

// Limits are those of the run, as far as they are known before the host has said what it needs.
func (p Params) Limits() record.Limits {
	return fit.Limits(p.Scenario, p.Host, p.Host.Profile, p.wish())
}

// wish is what the user insists on.
func (p Params) wish() fit.Wish {
	return fit.Wish{Settle: p.Settle, Confirm: p.Confirm, Patience: p.Patience, Fast: p.Fast, Plays: p.Soak.most()}
}

// plan is the scenario's, less the laws that can't be judged.
func (r *run) plan() record.Plan {
	plan := r.Scenario.Plan(r.Seed)
	plan.Laws, plan.Rows, plan.Evidence = r.laws(), r.Scenario.Rows, true
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
		return r.sessionsUnknown() && slices.Contains([]string{"L3", "L10"}, id) || r.limits.Severity[id] == record.SeverityOff
	})
}
