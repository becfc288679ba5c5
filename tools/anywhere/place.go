package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// settings are facts about this machine.
type settings struct {
	root    string // of the module
	cache   string // GOCACHE
	modules string // GOMODCACHE
	flags   string // GOFLAGS
	goroot  string
	base    string // folder for the row plain-user; it is kept, since it has a warm build cache
	env     []string
	grace   time.Duration // how long processes may outlive the command before they are killed
}

func lookAround(ctx context.Context) (settings, error) {
	said, err := command(ctx, ".", "go", "env", "-json", "GOMOD", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOROOT")
	if err != nil {
		return settings{}, err
	}
	var env struct{ GOMOD, GOCACHE, GOMODCACHE, GOFLAGS, GOROOT string }
	if err := json.Unmarshal(said, &env); err != nil {
		return settings{}, fmt.Errorf("reading go env: %w", err)
	}
	if filepath.Base(env.GOMOD) != "go.mod" {
		return settings{}, errors.New("this folder is not in a Go module: run the command in the source of leakbench")
	}
	return settings{
		root: filepath.Dir(env.GOMOD), cache: env.GOCACHE, modules: env.GOMODCACHE, flags: env.GOFLAGS, goroot: env.GOROOT,
		base: "/var/tmp/leakbench-anywhere", env: withoutOurs(os.Environ()), grace: 5 * time.Second,
	}, nil
}

// withoutOurs leaves out the variables that say which tests are played: the rows play the first tier.
func withoutOurs(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "LEAKBENCH_") })
}

// place describes where a row plays its command. A new place is the same as the surroundings of anywhere itself.
type place struct {
	settings
	dir     string // of the source
	orders  orders
	busy    int    // number of busy loops beside the command
	note    string // for the line of the row
	cleanup []func()
}

// orders tell the warden what the command inherits.
type orders struct {
	Command    []string
	Processors []int         // their numbers; empty: all
	Umask      int           // 0: unchanged
	UID, GID   int           // 0: unchanged
	NoCgroup   bool          // hide all cgroups, in new mount and PID namespaces
	ReadOnly   string        // folder to make read-only, in a new mount namespace; empty: none
	Writable   []string      // folders in ReadOnly that stay writable
	Grace      time.Duration // see settings
}

// played is the result of a command.
type played struct {
	report
	user, system time.Duration
}

// report is the message of the warden to anywhere.
type report struct {
	Cant   string // why the orders can't be followed
	Status int    // as a shell reports it
	Wall   time.Duration
	Left   []string // names of the processes that were killed after the grace
}

func (t *tool) newPlace() *place {
	return &place{settings: t.settings, dir: t.root, orders: orders{Grace: t.grace}}
}

// leave removes what was made for the place.
func (p *place) leave() {
	for _, f := range p.cleanup {
		f()
	}
}

func (p *place) get(name string) (value string) {
	for _, v := range p.env { // the last entry counts, as in os/exec
		if of, is := strings.CutPrefix(v, name+"="); is {
			value = of
		}
	}
	return value
}

func (p *place) set(name, value string) {
	p.unset(name)
	p.env = append(p.env, name+"="+value)
}

func (p *place) unset(name string) {
	p.dropEnv(func(n, _ string) bool { return n == name })
}

func (p *place) dropEnv(drop func(name, value string) bool) {
	var kept []string
	for _, v := range p.env {
		if name, value, _ := strings.Cut(v, "="); !drop(name, value) {
			kept = append(kept, v)
		}
	}
	p.env = kept
}

// keepGo sets what Go would otherwise look for in the home: its caches and its settings.
func (p *place) keepGo() {
	p.set("GOCACHE", p.cache)
	p.set("GOMODCACHE", p.modules)
	p.set("GOFLAGS", p.flags)
}

// folder makes a folder that is removed with the place. Everybody may enter it, because a test may start a process as another user.
func (p *place) folder(name string) (string, error) {
	dir, err := p.folderIn(os.TempDir())
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, name)
	return dir, makeFolder(dir, 0o755)
}

func (p *place) folderIn(base string) (string, error) {
	dir, err := os.MkdirTemp(base, "anywhere-")
	if err != nil {
		return "", err
	}
	p.cleanup = append(p.cleanup, func() { _ = os.RemoveAll(dir) })
	return dir, os.Chmod(dir, 0o755)
}

// makeFolder makes a folder with this mode, whatever the umask is.
func makeFolder(dir string, mode os.FileMode) error {
	if err := os.Mkdir(dir, mode); err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// startBusyLoops starts those that run beside the command. They end with stop, and with this process, whatever ends it.
func (p *place) startBusyLoops(ctx context.Context) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var loops []*exec.Cmd
	stop = func() {
		cancel()
		for _, loop := range loops {
			_ = loop.Wait() // it was killed, as it should be
		}
	}
	for range p.busy {
		loop := exec.CommandContext(ctx, self, partLoop)
		loop.WaitDelay = time.Second
		ownGroup(loop)
		_, err := loop.StdinPipe() // at whose end a loop ends
		if err == nil {
			err = loop.Start()
		}
		if err != nil {
			stop()
			return nil, fmt.Errorf("starting a busy loop: %w", err)
		}
		loops = append(loops, loop)
	}
	return stop, nil
}

// command returns the output of a short command.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	ownGroup(cmd)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
