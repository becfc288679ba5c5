package fakeserver

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/await"
)

// ShellLauncher is the script of a shell in front of a server. The exit keeps the shell from replacing itself by its last command.
const ShellLauncher = `"$@"; exit $?`

// processActions are what the server does with other processes.
var processActions = []action{
	// launcher makes the launched process a launcher, like a shell, npx or uvx: it starts the server as its child,
	// hands its stdin, stdout and stderr down, and waits. A signal ends the launcher alone: it passes none on.
	{
		name: "launcher",
		text: "is the child of the launched process, a launcher that passes no signals on and lives as long as the server",
		on:   []string{onStart}, slot: slotLaunch,
		as: []Doc{
			{Name: "wrapper", Text: "a program like npx; the server is in its process group"},
			{Name: "shell", Text: "/bin/sh -c; the server is in its process group"},
			{Name: "own-group", Text: "a program that gives the server a process group of its own"},
			{Name: "own-session", Text: "a program that gives the server a session of its own (setsid)"},
		},
		launch: func(f Fault, argv []string) int {
			switch f.variant() {
			case "shell":
				return underShell(argv)
			case "own-group":
				return runBelow(argv, ownGroup)
			case "own-session":
				return runBelow(argv, ownSession)
			}
			return runBelow(argv, sameGroup)
		},
	},
	// container stands in for "docker run -i": the launched process is a proxy between its stdio and a socket, and
	// the server at the other end is a daemon that is nobody's child. The proxy passes the end of stdin on; when the
	// proxy is killed the server stays, as a container does whose client is gone.
	{
		name: "container",
		text: "is a daemon in a session of its own behind a socket (double fork); the launched process is its proxy, " +
			"and killing that leaves it alone",
		on: []string{onStart}, slot: slotLaunch,
		launch: func(_ Fault, argv []string) int { return proxy(append(argv, "--attached")) },
	},
	// helper starts processes that a real server would have for a browser, a language server or a watcher. They do
	// nothing, live until somebody or the end of the bench ends them, and have no line on the ledger. The server
	// waits for those that end before it.
	//
	// A copy of another server's stdin, by which a helper would keep the end of stdin from that one, can't come from
	// a server: only a host that starts its servers without close-on-exec hands it down. What a server can hand down
	// is its own: as stdout withholds the end of its stdout from the host.
	{
		name: "helper", text: "starts (count) helper processes that outlive it unless somebody ends them",
		on:    []string{onStart, onCall, onOrder},
		takes: []string{"count"},
		as: []Doc{
			{Name: "group", Text: "in the server's process group, with no stdio"},
			{Name: "stdio", Text: "in the server's process group, with its stdin, stdout and stderr"},
			{Name: "stdout", Text: "in the server's process group, with its stdout: the host can't see the end of it"},
			{Name: "session", Text: "in a session of its own (setsid), with no stdio"},
			{Name: "daemon", Text: "in a session of its own and nobody's child (double fork), with no stdio"},
			{Name: "pipes", Text: "a daemon likewise, with the server's stdout and stderr: the host can't see the end of either"},
		},
		starts: true,
		commit: func(s *server, f Fault, _ *request) {
			s.times(f, func() error { return s.help(f.variant()) })
		},
	},
	// zombies leaves dead children of the server unwaited for. They are gone
	// when the server is, and until then only the server can end them.
	{
		name: "zombies", text: "starts (count) children that exit at once, and never reaps them",
		on:     []string{onStart, onCall, onOrder},
		takes:  []string{"count"},
		starts: true,
		commit: func(s *server, f Fault, _ *request) {
			s.times(f, func() error {
				p, err := start(s.options.helper(helperExits), [3]*os.File{}, sameGroup)
				if err == nil {
					await.Exit(p.Pid)
					_ = p.Release()
				}
				return err
			})
		},
	},
	// lock holds what only one process can have, until it exits. A launch that finds it taken can't start: it says
	// so, and exits with the status code (1 if none is given).
	{
		name: "lock",
		text: "holds a resource that only one launch of the label can have, until it exits; " +
			"a launch that finds it taken exits with the status code",
		on:    []string{onStart},
		takes: []string{"code"},
		as: []Doc{
			{Name: "file", Text: "an exclusive lock on a file"},
			{Name: "port", Text: "a TCP port of 127.0.0.1, the same for all launches of a run"},
		},
		commit: func(s *server, f Fault, _ *request) {
			take := holdFile
			if f.variant() == "port" {
				take = holdPort
			}
			held, err := take(s.options.place(f.variant()))
			switch {
			case err == nil:
				s.held = append(s.held, held) // open for as long as it lives
			case errors.Is(err, errTaken):
				s.lockedOut(f)
			default:
				s.cannot(f, err)
			}
		},
	},
	// kill-siblings ends the other servers of the label, which it knows by their pid files, as servers do that want
	// to be the only one. Each server of a script with this fault has such a file.
	{
		name: "kill-siblings", text: "kills the other servers of its label, by their pid files",
		on: []string{onStart}, slot: "kill-siblings",
		as: []Doc{
			{Name: "term", Text: "with SIGTERM"},
			{Name: "kill", Text: "with SIGKILL"},
		},
		targets: func(s *server) []int { return s.options.siblings() },
		commit: func(_ *server, f Fault, _ *request) {
			sig := syscall.SIGTERM
			if f.variant() == "kill" {
				sig = syscall.SIGKILL
			}
			for _, pid := range f.targets {
				if p, err := os.FindProcess(pid); err == nil {
					endProcess(p, sig)
					_ = p.Release()
				}
			}
		},
	},
	// watchdog looks after the server's parent, in one of the ways of the field that are wrong, and ends the server,
	// in the orderly way, when it holds the parent for gone. It shows where the end of stdin does not end the server
	// first (on eof: ignore).
	{
		name: "watchdog", text: "checks its parent now and then (for), and exits when it believes its parent died",
		on:    []string{onStart},
		takes: []string{"for"}, slot: slotWatchdog,
		as: []Doc{
			{Name: "ppid", Text: "gone is when the parent is pid 1: wrong below a subreaper, which takes orphans in instead"},
			{Name: "pid", Text: "gone is when nobody has the parent's pid: wrong when it is a zombie, or the pid is another process's by now"},
			{Name: "created", Text: "gone is when the parent's creation time is not what it was, computed in two ways that never give the same: " +
				"it exits though nothing happened"},
		},
		commit: func(s *server, f Fault, _ *request) {
			gone, err := watchdogs[f.variant()](os.Getppid())
			if err != nil {
				s.cannot(f, err)
				return
			}
			go s.watch(cmp.Or(time.Duration(f.For), watchEvery), gone)
		},
	},
}

// runBelow starts the server and waits for it.
func runBelow(argv []string, where placement) int {
	p, err := start(argv, [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, where)
	if err != nil {
		return cannotLaunch(err)
	}
	return statusOf(p)
}

// statusOf waits for a process. It returns its exit status, or 1 where a signal ended it.
func statusOf(p *os.Process) int {
	state, err := p.Wait()
	if err != nil {
		return cannotLaunch(err)
	}
	if code := state.ExitCode(); code >= 0 {
		return code
	}
	return 1
}

// endOfInput is the line by which a proxy passes the end of its stdin on: the
// end of the connection alone says that the proxy is gone.
const endOfInput = "\x04\n"

func proxy(argv []string) int {
	theirIn, theirOut, ours, err := connected()
	if err != nil {
		return cannotLaunch(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return cannotLaunch(err)
	}
	if err := startDetached(argv, [3]*os.File{theirIn, theirOut, null}); err != nil {
		return cannotLaunch(err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	go func() {
		_, _ = io.Copy(ours, os.Stdin)
		_, _ = io.WriteString(ours, endOfInput)
	}()
	_, _ = io.Copy(os.Stdout, ours) // ends with the server
	return 0
}

// attached reads from a proxy. Without the line that ends the input, the end of the connection is none of stdin.
type attached struct {
	from *bufio.Reader
	rest []byte // read and not handed on yet
	torn bool   // what was read last has no end of line
}

func (a *attached) Read(b []byte) (int, error) {
	if len(a.rest) == 0 {
		part, err := a.from.ReadSlice('\n')
		if !a.torn && string(part) == endOfInput {
			return 0, io.EOF
		}
		if len(part) == 0 && err != nil {
			select {}
		}
		a.rest, a.torn = part, err != nil
	}
	n := copy(b, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// times starts as many processes as the fault says, or as can be started.
func (s *server) times(f Fault, start func() error) {
	for range max(f.Count, 1) {
		if err := start(); err != nil {
			s.cannot(f, err)
			break
		}
	}
}

func (s *server) help(kind string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	files, where := [3]*os.File{null, null, null}, sameGroup
	switch kind {
	case "stdio":
		files = [3]*os.File{os.Stdin, s.out.file, os.Stderr}
	case "stdout":
		files[1] = s.out.file
	case "session":
		where = ownSession
	case "daemon", "pipes":
		if kind != "daemon" {
			files[1], files[2] = s.out.file, os.Stderr
		}
		return startDetached(s.options.helper(kind), files)
	}
	p, err := start(s.options.helper(kind), files, where)
	if err == nil {
		go func() { _, _ = p.Wait() }()
	}
	return err
}

var errTaken = errors.New("another launch has it")

func (s *server) lockedOut(f Fault) {
	why := fmt.Sprintf("the %s is taken by another launch of %s", f.variant(), s.options.label)
	s.bench.fault(birth.Fault{On: f.On, Do: f.Do, Detail: why, Breaks: true})
	fmt.Fprintln(s.bench.stderr, why)
	s.bench.note(birth.Note{Note: birth.NoteBye, Text: why})
	os.Exit(max(f.Code, 1))
}

// enlist writes the pid file. Its lock tells a sibling that the file's process lives: a bare number could be anybody's by now.
func (s *server) enlist(script Script) {
	for _, f := range script.Faults {
		if f.Do == "kill-siblings" {
			held, err := holdFile(s.options.place("pid") + "." + strconv.Itoa(os.Getpid()))
			if err != nil {
				s.cannot(f, err)
			}
			s.held = append(s.held, held)
			return
		}
	}
}

// siblings are the pids of the other servers that live.
func (o options) siblings() []int {
	files, _ := filepath.Glob(o.place("pid") + ".*")
	var all []int
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Ext(file)[1:])
		if err == nil && pid != os.Getpid() && isHeld(file) {
			all = append(all, pid)
		}
	}
	return all
}

// watchEvery is how often a watchdog looks where the fault does not say.
const watchEvery = 100 * time.Millisecond

// watchdogs make a question out of a parent's pid: why it is held for gone, "" for as long as it is not.
var watchdogs = map[string]func(parent int) (func() string, error){
	"ppid": func(int) (func() string, error) {
		return func() string {
			if os.Getppid() == 1 {
				return "its parent is pid 1"
			}
			return ""
		}, nil
	},
	"pid": func(parent int) (func() string, error) {
		return func() string {
			if !inUse(parent) {
				return fmt.Sprintf("nobody has the pid %d", parent)
			}
			return ""
		}, nil
	},
	"created": func(parent int) (func() string, error) {
		noted, err := createdByBoot(parent)
		return func() string {
			if now := createdByUptime(parent); now != noted {
				return fmt.Sprintf("its parent was created at %f, not at %f", now, noted)
			}
			return ""
		}, err
	},
}

func (s *server) watch(every time.Duration, gone func() string) {
	for range time.Tick(every) {
		if why := gone(); why != "" {
			s.bench.fault(birth.Fault{On: "watchdog", Do: "exit", Detail: why, Breaks: true})
			s.end("watchdog: " + why)
		}
	}
}
