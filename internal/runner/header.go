package runner

import (
	"os"
	"runtime"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

func (r *run) header() record.Header {
	hello := r.keeper.Hello
	return record.Header{
		ID: r.id, Tool: r.Tool, Seed: r.Seed,
		System: record.System{
			OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: kernel(), CPUs: runtime.NumCPU(), UID: os.Getuid(),
		},
		Witness: record.Witness{
			Ledger: r.ledger.Attested(), Census: hello.Census, Subreaper: hello.Subreaper, Cgroup: hello.Cgroup, Weak: hello.Weak,
		},
		Scenario: record.Scenario{
			Name: r.Scenario.Name, Title: r.Scenario.Title, File: r.Scenario.File, Reports: r.Scenario.Reports, Source: r.Scenario.Source,
		},
		Host: record.Host{
			Name: r.Host.Name, Kind: r.Host.Kind, Command: record.Redact(r.Host.Argv), About: r.Host.About, Profile: r.Host.Profile,
		},
		Limits: r.limits, Plan: r.plan(), Command: record.Redact(r.Command),
	}
}

// effectiveLimits are the scenario's, with the times that the host declares
// for itself and those that the user insists on.
func effectiveLimits(p Params, host record.Profile) record.Limits {
	l := p.Scenario.Limits
	l.Settle = first(p.Settle, host.Settle, l.Settle)
	l.Confirm = first(p.Confirm, host.Confirm, l.Confirm)
	l.Close = max(l.Close, host.Settle)
	l.Stop = max(l.Stop, host.Stop)
	if p.Host.Kind == record.KindCommand && l.SpawnsPerMinute == 0 {
		l.SpawnsPerMinute = commandSpawns(p.Scenario)
	}
	l.Controls = true
	return l
}

// declared is the profile that the bench knew, with what the host itself says
// in its place.
func declared(known record.Profile, said *record.Profile) record.Profile {
	p := *said
	p.Settle, p.Confirm, p.Stop = first(p.Settle, known.Settle), first(p.Confirm, known.Confirm), first(p.Stop, known.Stop)
	p.Resident = max(p.Resident, known.Resident)
	return p
}

func first(durations ...record.Duration) record.Duration {
	for _, d := range durations {
		if d > 0 {
			return d
		}
	}
	return 0
}

// hostLabels are the servers that the host can launch. A driver is given all
// of them, a command only the one that its {{server}} stands for: the one that
// the scenario breaks, else the first that does something wrong.
func hostLabels(p Params) []string {
	if p.Host.Kind != record.KindCommand {
		var all []string
		for _, s := range p.Scenario.Servers {
			all = append(all, s.Label)
		}
		return all
	}
	sessions := sessionLabels(p.Scenario.Steps, map[string]string{})
	for _, step := range p.Scenario.Expand() {
		if step.Op != scenarios.OpBreak {
			continue
		}
		if label := step.Label; label != "" {
			return []string{label}
		}
		if label := sessions[step.Session]; label != "" {
			return []string{label}
		}
	}
	for _, s := range p.Scenario.Servers {
		if len(s.Script.Faults) > 0 {
			return []string{s.Label}
		}
	}
	return []string{p.Scenario.Servers[0].Label}
}

// commandSpawns is how often a command may launch its server within a minute,
// where the scenario does not say so: its sessions are its own, but a host that
// launches a server a second for no reason is in a hot loop.
func commandSpawns(s *scenarios.Scenario) int {
	reasons := 0
	for _, step := range s.Expand() {
		if step.Op == scenarios.OpBreak {
			reasons++
		}
	}
	return 60 + 3*reasons
}

func sessionLabels(steps []scenarios.Step, into map[string]string) map[string]string {
	for _, s := range steps {
		if s.Op == scenarios.OpOpen && s.Label != "" {
			into[s.Session] = s.Label
		}
		sessionLabels(s.Steps, into)
		for _, lane := range s.Lanes {
			sessionLabels(lane, into)
		}
	}
	return into
}

// plan is the scenario's, less the servers that the host is not given and, for
// a command, the faults that only a session could bring about.
func (r *run) plan() record.Plan {
	plan := r.Scenario.Plan(r.Seed)
	if r.Host.Kind != record.KindCommand {
		return plan
	}
	mine := func(label string) bool { return label == r.labels[0] }
	kept := record.Plan{Checkpoints: plan.Checkpoints}
	for _, l := range plan.Labels {
		if mine(l.Label) { // how often it reconnects is its own business
			kept.Labels = append(kept.Labels, record.PlanLabel{Label: l.Label, Launches: min(l.Launches, 1)})
		}
	}
	for _, f := range plan.Faults {
		if mine(f.Label) {
			kept.Faults = append(kept.Faults, f)
		}
	}
	return kept
}
