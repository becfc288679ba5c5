package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/scenarios"
)

func TestWhatIsChosenAndWhatIsNot(t *testing.T) {
	t.Parallel()
	all, err := scenariosOf([]string{"all"})
	require.NoError(t, err)
	some, err := choice{levels: []string{"1"}}.of(all)
	require.NoError(t, err)
	assert.Regexp(t, `^level orderly: \d+ of \d+ scenarios, .*\nothers  --level stubborn \(.*\), --level sudden \(.*\), or leakbench run all$`, levelNote(some))
	for want, c := range map[string]choice{
		`--tag "nope": no scenario has this tag`:                                  {tags: []string{"nope"}},
		`--tag "none": no scenario has this tag`:                                  {tags: []string{"none"}, levels: []string{"1"}},
		"no scenario matches --law, --tag and --level together":                   {tags: []string{scenarios.TagQuick}, levels: []string{"1"}, laws: []string{"L2"}},
		`--level "4": must be one of orderly, stubborn, sudden, or 1 to 3`:        {levels: []string{"4"}},
		`--law "L0": must be one of L1, L2, L3, L4, L5, L6, L7, L8, L9, L10, L11`: {laws: []string{"L0"}},
	} {
		_, err := c.of(all)
		require.EqualError(t, err, want)
	}
	storm, err := scenariosOf([]string{"storm"})
	require.NoError(t, err)
	command := play.Host{Spec: subject.Spec{Kind: record.KindCommand}}
	_, err = ofServer(storm, "nope", command)
	require.EqualError(t, err, "--server nope: storm has no such server")
	one, err := ofServer(storm, "flaky", command)
	require.NoError(t, err)
	assert.Equal(t, "flaky", one[0].Part)
	for _, names := range [][]string{{"storm", "my-gateway", "{{server}}"}, {"{{server}}"}, {"storm", "sh"}} {
		_, err := scenariosOf(names)
		require.ErrorContains(t, err, "looks like a part of a command, which goes after --", names)
	}
	_, err = scenariosOf([]string{"strom"})
	require.ErrorContains(t, err, "did you mean storm?")
	for _, wrong := range [][]string{nil, {"storn"}, {"./none.yaml"}} {
		var misuse *play.Misuse
		_, err := scenariosOf(wrong)
		require.ErrorAs(t, err, &misuse)
		assert.NotEmpty(t, misuse.Hint)
	}
	twice, err := scenariosOf([]string{"all", "storm"})
	require.NoError(t, err)
	assert.Len(t, twice, len(all))
}

// Package play names a remedy, and the command line has a flag for each.
func TestRemediesHaveFlags(t *testing.T) {
	t.Parallel()
	for _, r := range []play.Remedy{
		play.OtherFolder, play.NoLink, play.OtherCorpus, play.NewRecord, play.OtherRecord, play.RunsFolder, play.HostCommand,
		play.ServerCommand, play.WholeCommand,
	} {
		assert.NotEmpty(t, failureOf(&play.Misuse{Err: errNoGate, Remedy: r}).hint, r)
	}
}
