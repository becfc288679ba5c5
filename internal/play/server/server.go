// Package server tries a server: it plays the checks, each a run of its own, and judges what was saved.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/client"
	"github.com/leakbench/leakbench/internal/stage/observe"
	"github.com/leakbench/leakbench/internal/subject/checks"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// Params say what is tried with which server.
type Params struct {
	Only   []string // names of checks; none: all
	Name   string   // of the server; "": as its command says
	Tool   string   // that is called once the server is up; "": none
	Args   string   // its arguments, a JSON object; "": {}
	Limits client.Limits
}

// Flags are the words of a command line that set these parameters.
func (p *Params) flags() (words []string) {
	for _, f := range []struct{ flag, value string }{{"--name", p.Name}, {"--call", p.Tool}, {"--args", p.Args}} {
		if f.value != "" {
			words = append(words, f.flag, f.value)
		}
	}
	for _, f := range []struct {
		flag  string
		value time.Duration
	}{{"--grace", p.Limits.Grace}, {"--watch", p.Limits.Watch}, {"--start", p.Limits.Start}, {"--idle", p.Limits.Idle}} {
		if f.value > 0 {
			words = append(words, f.flag, f.value.String())
		}
	}
	return words
}

const example = "for example: leakbench server -- npx -y @modelcontextprotocol/server-everything"

// Plan is the series of runs that tries a server, and what plays each of them.
func Plan(p Params, argv []string, bench *play.Bench, series *play.Series) (play.Player, error) {
	if !slices.Contains([]string{"linux", "windows"}, runtime.GOOS) {
		return nil, &play.Misuse{
			Err: fmt.Errorf("a server can be tried on Linux and Windows only: on %s leakbench can't see all that it leaves behind", runtime.GOOS),
		}
	}
	if err := check(argv); err != nil {
		return nil, err
	}
	var call *client.Call
	switch args := json.RawMessage(p.Args); {
	case p.Args != "" && p.Tool == "":
		return nil, &play.Misuse{
			Err:  errors.New("--args without --call: no tool is named"),
			Hint: `for example: --call echo --args '{"message":"hi"}'`,
		}
	case p.Args != "" && json.Unmarshal(args, new(map[string]any)) != nil:
		return nil, &play.Misuse{Err: fmt.Errorf("--args is not a JSON object: %.80q", p.Args), Hint: `for example: --args '{"message":"hi"}'`}
	case p.Tool != "":
		call = &client.Call{Tool: p.Tool}
		if p.Args != "" {
			call.Args = args
		}
	}
	chosen, err := choose(p.Only)
	if err != nil {
		return nil, err
	}
	asksIdle := func(c checks.Check) bool { return c.Name == checks.Idle }
	if idle := p.Limits.Idle; idle > 0 && idle < leastIdle && slices.ContainsFunc(chosen, asksIdle) {
		return nil, &play.Misuse{
			Err: fmt.Errorf("--idle %s: must be %s or more: a server has 3 s to settle, and its growth is told from the time after that",
				idle, duration.Text(leastIdle)),
			Hint: "leave --idle out: it is 20 s; or leave the check out: leakbench server --only eof,sigterm",
		}
	}
	name := p.Name
	if name == "" {
		name = nameOf(argv)
	}
	series.Host = play.Host{Spec: host.Spec{Name: name, Kind: record.KindServer, Argv: argv}}
	series.Scenarios = lists.Map(chosen, func(c checks.Check) *scenarios.Scenario {
		return &scenarios.Scenario{Name: c.Scenario(), Title: c.Title}
	})
	t := &trial{Bench: bench, p: p, argv: argv, name: name, call: call}
	return t.one, nil
}

// leastIdle is the shortest time in which it can be told that an idle server grows.
const leastIdle = 9 * time.Second

// check says what is wrong with a command before anything is started.
func check(argv []string) error {
	if len(argv) == 0 || strings.TrimSpace(argv[0]) == "" {
		return &play.Misuse{Err: errors.New("no server given"), Hint: "its command goes after --; " + example}
	}
	return host.MissingProgram(argv[0])
}

// choose are the checks of these names, in their own order; none: all.
func choose(only []string) ([]checks.Check, error) {
	for _, name := range only {
		if _, known := checks.Of(name); !known {
			return nil, &play.Misuse{
				Err:  fmt.Errorf("--only %q: must be one of %s", name, strings.Join(checks.Names(), ", ")),
				Hint: text.DidYouMean(name, checks.Names()),
			}
		}
	}
	if i := slices.IndexFunc(only, lacking); i >= 0 {
		return nil, &play.Misuse{
			Err:  fmt.Errorf("--only %s: the check needs SIGTERM, which %s does not have", only[i], runtime.GOOS),
			Hint: "run it on Linux, or in WSL",
		}
	}
	chosen := func(c checks.Check) bool {
		return len(only) == 0 || slices.Contains(only, c.Name) || slices.Contains(only, c.Scenario())
	}
	return slices.DeleteFunc(checks.All(), func(c checks.Check) bool { return lacking(c.Name) || !chosen(c) }), nil
}

// lacking says of a check that this system has not what it needs.
func lacking(name string) bool {
	c, _ := checks.Of(name)
	return runtime.GOOS == "windows" && slices.Contains([]string{checks.SIGTERM, checks.Shell}, c.Name)
}

// launchers run the program that their arguments name.
var launchers = []string{
	"npx", "npm", "pnpm", "yarn", "bunx", "bun", "uvx", "uv", "pipx", "node", "deno", "python", "python3", "sh", "bash", "env", "docker",
	"podman", "go", "java",
}

// skipped are words behind a launcher that are no names.
var skipped = []string{"run", "exec", "dlx", "x", "tool", "-m", "-y", "-c", "-i", "-jar"}

// nameOf is the name of a server by its command: that of its program or package, without version, scope and folder.
func nameOf(argv []string) string {
	word := argv[0]
	for i := 0; i < len(argv) && slices.Contains(launchers, strings.TrimSuffix(path.Base(filepath.ToSlash(argv[i])), ".exe")); {
		for i++; i < len(argv) && (strings.HasPrefix(argv[i], "-") || slices.Contains(skipped, argv[i])); i++ {
		}
		if i < len(argv) {
			word = argv[i]
		}
	}
	word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
	name := path.Base(filepath.ToSlash(word))
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, "==")
	if name == "" {
		return "server"
	}
	return name
}

// trial is a server that is tried.
type trial struct {
	*play.Bench
	p    Params
	argv []string
	name string
	call *client.Call

	mu   sync.Mutex
	down bool // it did not come up alone either: nothing else need be made sure of
}

// one plays a check and judges what was saved.
func (t *trial) one(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
	t.mu.Lock()
	down := t.down
	t.mu.Unlock()
	if down && c.Again != "" {
		return nil, nil
	}
	check, _ := checks.Of(c.Scenario.Name)
	j, err := t.Keep(ctx, c, play.Shown{Steps: 4}, func(dir string, onEvent func(record.Event)) error {
		return client.Run(ctx, client.Params{
			Self: t.Self, Check: check, Name: t.name, Argv: t.argv, Dir: dir, Tool: t.Tool, Again: c.Again, Limits: t.p.Limits, Call: t.call,
			Command: slices.Concat([]string{"leakbench", "server", "--only", check.Name}, t.p.flags(), []string{"--"}, t.argv),
			OnEvent: onEvent,
		})
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.down = t.down || errors.Is(err, observe.ErrHost) && c.Again != ""
	return j, err
}
