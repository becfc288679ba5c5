package fakeserver_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	type F = fakeserver.Fault
	second := fakeserver.Duration(time.Second)
	for _, c := range []struct {
		era    string
		faults []F
		want   []string // each in the error; none: the script is right
	}{
		{"", nil, nil},
		{"dual", []F{{On: "eof", Do: "ignore"}, {On: "term", Do: "ignore"}, {On: "start", Do: "delay", For: second}}, nil},
		{"", []F{{On: "call", Do: "grow", MiB: 10}, {On: "call", Do: "hang"}}, nil},
		{"", []F{{On: "initialize", Do: "reject", Launch: 2}, {On: "initialize", Do: "hang", Launch: 3}}, nil},
		{"", []F{{On: "initialize", Do: "reject", Every: 2}, {On: "initialize", Do: "hang", Launch: 3}}, nil},
		{"", []F{{On: "call", Do: "reject", Tool: "echo"}, {On: "call", Do: "hang", Tool: "sleep"}}, nil},
		{"", []F{{On: "call", Do: "exit"}}, nil},
		{"", []F{{On: "discover", Do: "hang"}}, nil},
		{"", []F{{On: "call", Do: "swell", MiB: 100, Step: 10}, {On: "call", Do: "reject", After: 3, Probability: 0.5, Every: 2}}, nil},
		{"", []F{{On: "start", Do: "swell", MiB: 100, Each: second}, {On: "list", Do: "progress", Each: second}, {On: "ping", Do: "hang", After: 1}}, nil},
		{"", []F{{On: "call", Do: "long-line"}, {On: "start", Do: "flood-stderr", MiB: 3}, {On: "start", Do: "banner"}}, nil},
		{"", []F{{On: "eof", Do: "write"}, {On: "epipe", Do: "spin"}, {On: "eof", Do: "linger-timer"}, {On: "term", Do: "delay", For: second}}, nil},
		{"", []F{{On: "start", Do: "ignore-term", Launch: 2}, {On: "term", Do: "ignore", Launch: 3}}, nil},
		{"", []F{{On: "start", Do: "ignore-term", Launch: 2}, {On: "term", Do: "ignore"}}, nil}, // there are other launches
		{"", []F{{On: "eof", Do: "ignore-term"}, {On: "term", Do: "ignore"}}, nil},              // before the end of stdin
		{"dual", []F{{On: "initialize", Do: "stop-reading"}, {On: "eof", Do: "ignore"}}, nil},   // a client may go without initialize

		{"old", nil, []string{`era: "old" is unknown; it may be legacy, legacy-mute, modern, dual`}},
		{"", []F{{On: "connect", Do: "hang"}}, []string{`on: "connect" is unknown; it may be start, discover,`}},
		{"", []F{{Do: "hang"}}, []string{"on is missing; it may be start"}},
		{"", []F{{On: "call", Do: "die"}}, []string{`do: "die" is unknown; it may be reject, hang`}},
		{"", []F{{On: "call"}}, []string{"do is missing"}},
		{"", []F{{On: "eof", Do: "reject"}}, []string{"do: reject does not go with on: eof", "on: eof goes with do: ignore, delay"}},
		{"", []F{{On: "call", Do: "hang", Launch: 2, Every: 2}}, []string{"launch and every exclude each other"}},
		{"", []F{{On: "call", Do: "hang", Launch: -1}}, []string{"launch: -1"}},
		{"", []F{{On: "call", Do: "hang", Every: -1}}, []string{"every: -1"}},
		{"", []F{{On: "call", Do: "hang", Tool: "write"}}, []string{`tool: "write" is unknown; it may be echo, sleep, whoami`}},
		{"", []F{{On: "list", Do: "hang", Tool: "echo"}}, []string{"tool does not go with on: list"}},
		{"", []F{{On: "start", Do: "delay"}}, []string{"do: delay needs for"}},
		{"", []F{{On: "start", Do: "delay", For: -second}}, []string{"for is out of range"}},
		{"", []F{{On: "call", Do: "grow"}}, []string{"do: grow needs mib"}},
		{"", []F{{On: "call", Do: "grow", MiB: 1 << 20}}, []string{"mib is out of range; it may be 1 to 65536"}},
		{"", []F{{On: "call", Do: "exit", Code: 256}}, []string{"code is out of range; it may be 0 to 255"}},
		{"", []F{{On: "call", Do: "hang", For: second, MiB: 1, Code: 1}}, []string{"for does not go with do: hang", "mib does not", "code does not"}},
		{"", []F{{On: "order", Do: "exit"}}, []string{"on: order does not go into a script"}},
		{"legacy-mute", []F{{On: "discover", Do: "hang"}}, []string{"ignores server/discover anyway"}},
		{"", []F{{On: "discover", Do: "wrong-version"}}, []string{"use era modern or dual"}},
		{"", []F{{On: "discover", Do: "unsupported-version"}}, []string{"use era modern or dual"}},
		{"modern", []F{{On: "initialize", Do: "wrong-version"}}, []string{"has no answer to initialize"}},
		{"", []F{{On: "call", Do: "hang"}, {On: "call", Do: "reject", Tool: "echo"}}, []string{"fault 2 (on call: reject)", "contradicts fault 1"}},
		{"", []F{{On: "call", Do: "hang", Launch: 4}, {On: "call", Do: "reject", Every: 2}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "eof", Do: "ignore"}, {On: "eof", Do: "ignore"}}, []string{"contradicts fault 1"}},

		{"", []F{{On: "start", Do: "helper"}, {On: "start", Do: "helper", As: "daemon", Count: 3}, {On: "start", Do: "exit"}}, nil},
		{"", []F{{On: "start", Do: "launcher", Launch: 1}, {On: "start", Do: "container", Launch: 2}}, nil},
		{"", []F{{On: "start", Do: "lock"}, {On: "start", Do: "lock", As: "port"}, {On: "start", Do: "watchdog"}}, nil},
		{"", []F{{On: "start", Do: "helper", As: "deamon"}}, []string{`as: "deamon" is unknown; it may be group, stdio, stdout, session, daemon`}},
		{"", []F{{On: "call", Do: "hang", As: "group"}}, []string{"as does not go with do: hang"}},
		{"", []F{{On: "call", Do: "hang", Count: 2}}, []string{"count does not go with do: hang"}},
		{"", []F{{On: "start", Do: "zombies", Count: 1000}}, []string{"count is out of range; it may be 1 to 64"}},
		{"", []F{{On: "call", Do: "launcher"}}, []string{"do: launcher does not go with on: call"}},
		{"", []F{{On: "start", Do: "helper"}, {On: "start", Do: "helper", As: "group"}}, []string{"contradicts fault 1"}}, // group is the default
		{"", []F{{On: "start", Do: "launcher"}, {On: "start", Do: "launcher", As: "shell"}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "start", Do: "launcher", Every: 2}, {On: "start", Do: "container", Launch: 4}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "start", Do: "watchdog"}, {On: "start", Do: "container"}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "start", Do: "watchdog"}, {On: "start", Do: "watchdog", As: "pid"}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "start", Do: "kill-siblings"}, {On: "start", Do: "kill-siblings", As: "kill"}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "eof", Do: "linger-timer"}, {On: "eof", Do: "linger-socket"}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "eof", Do: "spin"}, {On: "eof", Do: "ignore"}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "call", Do: "hang", After: 2}, {On: "call", Do: "exit", After: 5}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "call", Do: "hang", Probability: 0.1}, {On: "call", Do: "exit", Probability: 0.1}}, []string{"contradicts fault 1"}},
		{"", []F{{On: "start", Do: "ignore-term"}, {On: "term", Do: "ignore"}}, []string{"contradicts fault 1", "after that one, this one can't happen"}},
		{"", []F{{On: "term", Do: "delay", For: second}, {On: "start", Do: "ignore-term"}}, []string{"contradicts fault 1", "after this one, that one can't happen"}},
		{"", []F{{On: "initialize", Do: "stop-reading", Every: 2}, {On: "eof", Do: "ignore", Every: 2}}, []string{"contradicts fault 1"}},
		{"modern", []F{{On: "ping", Do: "hang"}}, []string{"a server of era modern has no answer to ping"}},
		{"", []F{{On: "call", Do: "hang", Probability: 1}}, []string{"probability is out of range; it is more than 0 and less than 1"}},
		{"", []F{{On: "call", Do: "hang", Probability: -0.5}}, []string{"probability is out of range"}},
		{"", []F{{On: "call", Do: "hang", After: -1}}, []string{"after: -1 is less than 1"}},
		{"", []F{{On: "eof", Do: "ignore", After: 1}}, []string{"after does not go with on: eof, only with on: list, list-resources, list-prompts, call, ping"}},
		{"", []F{{On: "call", Do: "swell"}}, []string{"do: swell needs mib"}},
		{"", []F{{On: "call", Do: "swell", MiB: 3, Step: -4}}, []string{"step is out of range; it may be 1 to 65536"}},
		{"", []F{{On: "call", Do: "swell", MiB: 3, Each: second}}, []string{"each does not go with on: call"}},
		{"", []F{{On: "call", Do: "progress", Each: -second}}, []string{"each is out of range"}},
		{"", []F{{On: "call", Do: "hang", Each: second, Step: 1}}, []string{"each does not go with do: hang", "step does not"}},
		{"x", []F{{On: "y", Do: "hang"}, {On: "call", Do: "z"}}, []string{`era: "x"`, `on: "y"`, `do: "z"`}}, // all, not the first
	} {
		err := fakeserver.Script{Era: c.era, Faults: c.faults}.Check().Err()
		if len(c.want) == 0 {
			require.NoError(t, err)
			continue
		}
		for _, want := range c.want {
			require.ErrorContains(t, err, want)
		}
	}
	require.Empty(t, F{On: "order", Do: "exit"}.Check())
	for _, f := range []F{{Launch: 2}, {Every: 2}, {Probability: 0.5}, {After: 1}} {
		f.On, f.Do = "order", "exit"
		assert.ErrorContains(t, f.Check().Err(), "not go with on: order")
	}
}

func TestBreaksAndPassive(t *testing.T) {
	t.Parallel()
	breaking := map[string]bool{
		"discover/reject": true, "discover/wrong-version": true, "discover/unsupported-version": true,
		"initialize/reject": true, "initialize/wrong-version": true,
		"list/reject": true, "list-resources/reject": true, "list-prompts/reject": true,
	}
	for _, m := range fakeserver.Moments {
		assert.NotEmpty(t, m.With, m.Name)
		for _, d := range m.With {
			f := fakeserver.Fault{On: m.Name, Do: d}
			always := strings.Contains(" exit answer-exit hang garbage close-stdout progress banner partial bad-utf8 long-line stop-reading twice ", " "+d+" ")
			spoils := d == "spin" && m.Name != "eof" || m.Name == "ping"
			assert.Equal(t, always || spoils || breaking[m.Name+"/"+d], f.Breaks(), "%s/%s", m.Name, d)
			stays := d == "ignore" || strings.HasPrefix(d, "linger-") || d == "spin" && m.Name == "eof"
			assert.Equal(t, stays, f.Passive(), "%s/%s", m.Name, d)
		}
	}
	for _, d := range fakeserver.Actions {
		assert.NotEmpty(t, d.Text, d.Name)
		assert.NotEmpty(t, d.With, d.Name)
	}
}

// TestFallbackIsNotBroken: a client gets past a failed discovery where there
// still is initialize, so what the host then does to the server counts.
func TestFallbackIsNotBroken(t *testing.T) {
	t.Parallel()
	for era, want := range map[string]bool{fakeserver.EraLegacy: false, fakeserver.EraDual: false, fakeserver.EraModern: true} {
		b := one(t, era, fakeserver.Fault{On: "discover", Do: "reject"})
		p, id := b.launch("s")
		p.send(discover)
		require.NotNil(t, p.answer().Error)
		assert.Equal(t, want, b.awaitKind(id, "fault").Fault.Breaks, era)
	}
}

func TestBadCommandLines(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "s.json")
	require.NoError(t, os.WriteFile(script, []byte(`{"errar":"legacy"}`), 0o600))
	for args, want := range map[string]string{
		"--nope":                          "flag provided but not defined: -nope",
		"more":                            `unexpected argument "more"`,
		"--era old":                       "it may be legacy, legacy-mute, modern, dual",
		"--fault on":                      `"on" is not of the form key=value`,
		"--fault on=call,do=hang,when=x":  "it may be on, do, launch, every, probability, after, tool, for, each, mib, bytes, step, code",
		"--fault on=call,do=hang,every=x": `every: "x" is no number`,
		"--fault on=call,do=delay,for=3":  `"3" is no time; write it like 500ms or 1.5s`,
		"--fault on=eof,do=exit":          "on: eof goes with do: ignore",
		"--lifetime 0s":                   "--lifetime must be more than 0",
		"--fault on=call,do=hang,probability=often": `probability: "often" is no number`,
		"--fault on=call,do=hang,probability=NaN":   "probability is out of range",
		"--fault on=call,do=progress,each=1":        `each: "1" is no time`,
		"--ledger x --run r --label l --seed 3":     "--seed does not go with --ledger",
		"--launch 0":                                "--launch must be at least 1",
		"--run x":                                   "--run goes with --ledger",
		"--ledger x":                                "--ledger needs --run",
		"--ledger x --run r --era modern":           "the bench decides it",
		"--script " + script:                        `unknown field "errar"`,
		"--script /no/such":                         "--script: open /no/such",
	} {
		p := start(t, append([]string{"fakeserver"}, strings.Fields(args)...)...)
		assert.Equal(t, 2, p.status(), args)
		assert.Contains(t, p.stderr.String(), want, args)
		assert.Contains(t, p.stderr.String(), "--help", args)
	}
}

func TestScriptFromAFile(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "s.json")
	require.NoError(t, os.WriteFile(script, []byte(`{"era":"modern","faults":[{"on":"list","do":"delay","for":"1ms"}]}`), 0o600))
	p := start(t, "fakeserver", "--script", script, "--fault", "on=discover,do=reject")
	p.send(discover)
	assert.NotNil(t, p.answer().Error)
}

func TestHelpNamesEverything(t *testing.T) {
	t.Parallel()
	p := start(t, "fakeserver", "--help")
	text, err := io.ReadAll(p.lines)
	require.NoError(t, err)
	assert.Equal(t, 0, p.status())
	for _, d := range append(append([]fakeserver.Doc{}, fakeserver.Moments...), fakeserver.Actions...) {
		assert.Contains(t, string(text), d.Text)
	}
}
