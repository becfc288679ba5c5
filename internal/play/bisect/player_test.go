package bisect

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/install"
	"github.com/leakbench/leakbench/scenarios"
)

const (
	preset    = "typescript-sdk"
	reconnect = `
name: reconnect
title: A server whose stdout has closed is replaced
servers: {one: {}}
limits: {settle: 300ms, confirm: 100ms, quiet: 50ms}
steps:
  - {open: s, server: one}
  - {break: s, with: close-stdout}
  - {open: s}
  - {checkpoint: after}
`
)

func parsed(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("x.yaml", []byte(text))
	require.NoError(t, err)
	return s
}

func installed(install.Params) error { return nil }

// judged is a run that shows this: "L2 escaped,L1 late"; a "!" is a warning, a "?" is not decided.
func judged(shows string) *verdict.Judged {
	j := &verdict.Judged{Dir: "runs/" + shows}
	if strings.HasSuffix(shows, "?") {
		j.Verdict.Outcome = verdict.Inconclusive
	}
	for _, f := range strings.FieldsFunc(strings.TrimSuffix(shows, "?"), func(r rune) bool { return r == ',' }) {
		severity := record.SeverityError
		if strings.HasPrefix(f, "!") {
			severity = record.SeverityWarning
		}
		id, kind, _ := strings.Cut(strings.TrimPrefix(f, "!"), " ")
		j.Verdict.Findings = append(j.Verdict.Findings, verdict.Finding{Law: id, Kind: kind, Severity: severity})
	}
	return j
}

// TestTry: what comes of a version, by what its installation and its run came to.
func TestTry(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		install error
		shows   string // of its run; "none" where there is no run
		err     error
		want    Try
	}{
		"bad":                 {shows: "L2 escaped", want: Try{Outcome: Bad, Shows: []string{"L2 escaped"}, Dir: "runs/L2 escaped"}},
		"good":                {want: Try{Outcome: Good, Shows: []string{}, Dir: "runs/"}},
		"a warning":           {shows: "!L9 signal-first", want: Try{Outcome: Good, Shows: []string{}, Dir: "runs/!L9 signal-first"}},
		"in order, each once": {shows: "L2 escaped,L1 late,L2 escaped", want: Try{Outcome: Bad, Shows: []string{"L1 late", "L2 escaped"}, Dir: "runs/L2 escaped,L1 late,L2 escaped"}},
		"not decided":         {shows: "?", want: Try{Outcome: Skip, Shows: []string{}, Dir: "runs/?"}},
		"not installed":       {install: broken, want: Try{Outcome: Skip, Shows: []string{"can't be installed"}}},
		"not played":          {err: broken, shows: "L2 escaped", want: Try{Outcome: Skip, Shows: []string{"can't be played"}}},
		"no run":              {shows: "none", want: Try{Outcome: Skip, Shows: []string{"can't be played"}}},
	} {
		p := Player{
			Scenario: parsed(t, reconnect), Host: preset,
			Install: func(p install.Params) error {
				assert.Equal(t, []string{preset, "2.0.0"}, []string{p.Name, p.Version}, name)
				return c.install
			},
			Play: func(_ context.Context, cell play.Cell) (*verdict.Judged, error) {
				assert.Equal(t, []string{preset + "@2.0.0", preset, "reconnect"}, []string{cell.Host.ID, cell.Host.Name, cell.Scenario.Name}, name)
				if c.shows == "none" {
					return nil, c.err
				}
				return judged(c.shows), c.err
			},
		}
		c.want.Version = "2.0.0"
		got, err := p.Try(t.Context(), "2.0.0")
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
		told := Try{}
		p.Tell = func(t Try) { told = t }
		_, err = p.Try(t.Context(), "2.0.0")
		require.NoError(t, err, name)
		assert.Equal(t, c.want, told, name)
	}
}

// TestTryIsCutShort: who interrupts an installation or a run is told so, and no version is blamed.
func TestTryIsCutShort(t *testing.T) {
	t.Parallel()
	interrupted := errors.New("interrupted")
	for _, during := range []string{"install", "play"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		p := Player{
			Scenario: parsed(t, reconnect), Host: preset, Install: installed,
			Tell: func(t Try) { panic(t) },
			Play: func(context.Context, play.Cell) (*verdict.Judged, error) {
				cancel(interrupted)
				return judged("L2 escaped"), nil
			},
		}
		if during == "install" {
			p.Install = func(install.Params) error {
				cancel(interrupted)
				return nil
			}
			p.Play = nil
		}
		got, err := p.Try(ctx, "2.0.0")
		require.ErrorIs(t, err, interrupted, during)
		assert.Equal(t, Try{Version: "2.0.0", Outcome: Skip, Shows: []string{}}, got, during)
	}
}

// TestUnplayable: a scenario that the host can't be asked for ends the search, with the reason.
func TestUnplayable(t *testing.T) {
	t.Parallel()
	p := Player{Scenario: parsed(t, "name: x\ntitle: x\nservers: {one: {}}\nsteps: [{open: s, server: one}]\n"), Host: "mcporter", Install: installed}
	got, err := p.Try(t.Context(), "2.0.0")
	var not *Unplayable
	require.ErrorAs(t, err, &not)
	assert.NotEmpty(t, not.Why)
	require.EqualError(t, err, not.Why)
	assert.Equal(t, Try{Version: "2.0.0", Outcome: Skip, Shows: []string{}}, got)
	got, err = (&Player{Scenario: p.Scenario, Host: "nobody", Install: installed}).Try(t.Context(), "2.0.0")
	require.NoError(t, err, "a host that is not there can't be installed")
	assert.Equal(t, Try{Version: "2.0.0", Outcome: Skip, Shows: []string{"can't be installed"}}, got)
}

// TestParts: a host that takes one server is played once for each, and all of them have to be decided.
func TestParts(t *testing.T) {
	t.Parallel()
	s := parsed(t, "name: x\ntitle: x\nservers: {one: {}, two: {}}\nsteps: [{open: s, server: one}, {open: t, server: two}, {call: t}]\n")
	for shows, want := range map[string]Try{
		"?|":                   {Outcome: Skip, Shows: []string{}, Dir: "runs/"},
		"|?":                   {Outcome: Skip, Shows: []string{}, Dir: "runs/?"},
		"|":                    {Outcome: Good, Shows: []string{}, Dir: "runs/"},
		"L2 escaped|L1 late,?": {Outcome: Bad, Shows: []string{"L1 late", "L2 escaped"}, Dir: "runs/L1 late,?"},
	} {
		runs := strings.Split(shows, "|")
		p := Player{Scenario: s, Host: "supergateway", Install: installed, Play: func(context.Context, play.Cell) (*verdict.Judged, error) {
			run := runs[0]
			runs = runs[1:]
			return judged(run), nil
		}}
		want.Version = "4.0.0"
		got, err := p.Try(t.Context(), "4.0.0")
		require.NoError(t, err, shows)
		assert.Equal(t, want, got, shows)
	}
}
