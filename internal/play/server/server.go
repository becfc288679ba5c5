// Package server tries a server: it plays the checks, each a run of its own, and judges what was saved.
package server

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/server"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/scenarios"
)

// Params say what is tried with which server.
type Params struct {
	Checks []server.Check
	Name   string       // of the server; "": as its command says
	Call   *server.Call // once the server is up; nil: none
	Limits server.Limits
	Again  func(check string) []string // the command line that plays a check again, left of the server's command; nil: none
}

// Supported says why a server can't be tried on this system, or why a command can't be one, before anything is started.
func Supported(argv []string) error {
	if !slices.Contains([]string{"linux", "windows"}, runtime.GOOS) {
		return &play.Misuse{
			Err: fmt.Errorf("a server can be tried on Linux and Windows only: on %s leakbench can't see all that it leaves behind", runtime.GOOS),
		}
	}
	if len(argv) == 0 || strings.TrimSpace(argv[0]) == "" {
		return &play.Misuse{Err: errors.New("no server given"), Remedy: play.ServerCommand}
	}
	return subject.MissingProgram(argv[0])
}

// Plan is the series of runs that tries a server, and what plays each of them.
func Plan(p Params, argv []string, bench *play.Bench, series *play.Series) (play.Player, error) {
	if err := Supported(argv); err != nil {
		return nil, err
	}
	name := p.Name
	if name == "" {
		name = nameOf(argv)
	}
	series.Host = play.Host{Spec: subject.Spec{Name: name, Kind: record.KindServer, Argv: argv}}
	series.Scenarios = lists.Map(p.Checks, func(c server.Check) *scenarios.Scenario {
		return &scenarios.Scenario{Name: c.Scenario(), Title: c.Title}
	})
	t := &trial{Bench: bench, p: p, argv: argv, name: name, door: newDoor(p.Checks)}
	return t.one, nil
}

// Lacking says of a check that this system has not what it needs.
func Lacking(name string) bool {
	c, _ := server.CheckNamed(name)
	return runtime.GOOS == "windows" && slices.Contains([]string{server.SIGTERM, server.Shell}, c.Name)
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
	door *door

	mu   sync.Mutex
	down bool // it did not come up alone either: nothing else need be made sure of
}

// again is the command line that plays a check again.
func (t *trial) again(check string) []string {
	if t.p.Again == nil {
		return nil
	}
	return append(t.p.Again(check), t.argv...)
}

// one plays a check and judges what was saved.
func (t *trial) one(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
	t.mu.Lock()
	down := t.down
	t.mu.Unlock()
	if down && c.Again != "" {
		return nil, nil
	}
	check, _ := server.CheckNamed(c.Scenario.Name)
	if err := t.door.enter(ctx, check); err != nil {
		return nil, err
	}
	j, err := t.Keep(ctx, c, play.Shown{Steps: 4}, func(dir string, on play.Watcher) error {
		return server.Run(ctx, server.Params{
			Self: t.Self, Check: check, Name: t.name, Argv: t.argv, Dir: dir, Tool: t.Tool, Again: c.Again, Limits: t.p.Limits, Call: t.p.Call,
			Command: t.again(check.Name), OnEvent: func(e record.Event) { t.door.see(e); on.Event(e) },
		})
	})
	t.door.leave(check, j)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.down = t.down || errors.Is(err, observe.ErrHost) && c.Again != ""
	return j, err
}
