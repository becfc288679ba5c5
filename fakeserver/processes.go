package fakeserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

// The processes beside a server are the same binary under other names, since they are none of the servers that the ledger knows.
const (
	helperCommand = "fakehelper"
	detachCommand = "fakedetach"

	helperExits = "exit" // a helper that does not stay
)

// helper is the command line of a helper process. It says whose it is: the server may be gone when somebody asks.
func (o options) helper(kind string) []string {
	return []string{
		os.Args[0], helperCommand, kind, "--ledger", o.ledger, "--run", o.run, "--label", o.label, "--launch", strconv.Itoa(o.launch),
		"--lifetime", o.lifetime.String(),
	}
}

// helperMain is a helper. It holds a connection to the ledger, on which it is no server, only to end when the bench
// does; by hand, without a ledger, its lifetime ends it.
func helperMain(args []string) int {
	if len(args) == 0 || args[0] == helperExits {
		return 0
	}
	setName("helper-" + args[0])
	var o options
	fs := o.flagSet()
	fs.IntVar(&o.launch, "launch", 1, "")
	if err := fs.Parse(args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "leakbench %s: %v\n", helperCommand, err)
		return statusUsage
	}
	if o.ledger == "" {
		o.endInTime()
		select {}
	}
	return o.attend(birth.RoleHelper)
}

// endInTime ends the process at its lifetime. It is none that answers a host, and needs few of its pages.
func (o options) endInTime() {
	time.AfterFunc(o.lifetime, func() { vanish(statusLifetime) })
	time.AfterFunc(idleAfter, dropPages)
}

// join reports to the bench as something else than a server.
func (o options) join(role string) (*birth.Conn, birth.Welcome, error) {
	o.endInTime()
	c := certificate(o)
	c.Role = role
	return birth.Dial(o.ledger, c)
}

// attend is there until the bench is gone.
func (o options) attend(role string) int {
	conn, _, err := o.join(role)
	if err != nil {
		return statusNoBench
	}
	endWithBench(conn)
	return 0
}

// endWithBench returns never: when the bench is gone, this process is.
func endWithBench(conn *birth.Conn) {
	for range conn.Orders() {
	}
	vanish(statusBenchGone)
}

// place is where the servers of a label keep what they share: beside the ledger's socket, which the bench removes,
// and by hand in the folder for temporary files.
func (o options) place(what string) string {
	dir := os.TempDir()
	if o.ledger != "" {
		dir = filepath.Dir(o.ledger)
	}
	label := strings.Map(func(r rune) rune {
		if r == filepath.Separator || r == '.' || strings.ContainsRune(`*?[\`, r) {
			return '_'
		}
		return r
	}, o.label)
	return filepath.Join(dir, "leakbench-"+what+"-"+label)
}

// TwinMark is the variable in the environment that makes of a server's command line a twin: a process that looks like
// the server to whoever goes by command lines, and is none of the host's. It speaks to nobody and catches no signal,
// so that whoever signals it ends it. No host is started with it.
const TwinMark = "LEAKBENCH_TWIN"

// twinMain is a twin. It ends when the bench does, or at its lifetime.
func twinMain(args []string) int {
	o, err := parse(args)
	if err != nil || o.ledger == "" {
		fmt.Fprintf(os.Stderr, "leakbench %s: a twin is part of leakbench run: %v\n", command, err)
		return statusUsage
	}
	return o.attend(birth.RoleTwin)
}

// launcherCommand is what a host is given to launch where a fault of the script is about the launch itself.
const launcherCommand = "fakelauncher"

// Two faults of the same slot can't be due at the same launch.
const (
	slotLaunch   = "launch"
	slotWatchdog = "watchdog"
)

// launchFault is the fault of a launch that somebody else than the server has to commit, before the server is there.
func (s Script) launchFault(seed uint64, label string, launch int) (Fault, bool) {
	for _, f := range s.Faults {
		if f.action().launch != nil && f.Due(seed, label, launch) {
			return f, true
		}
	}
	return Fault{}, false
}

// Argv is the command line that makes the binary self a server with this
// script: Argv, or a launcher's where the script has one at any launch.
func (s Script) Argv(self, ledgerPath, run, label, session string) []string {
	argv := Argv(self, ledgerPath, run, label, session)
	if slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.action().launch != nil }) {
		argv[1] = launcherCommand
	}
	return argv
}

// launcherMain is the process that the host launches where there may be a launcher. It asks the bench for the script
// and for a launch number, and starts the server with that number below itself; or, at a launch that is to be without
// a launcher, turns into the server.
func launcherMain(args []string) int {
	o, err := parse(args)
	if err != nil || o.ledger == "" {
		fmt.Fprintf(os.Stderr, "leakbench %s is part of leakbench run: %v\n", launcherCommand, err)
		return statusUsage
	}
	setName("launcher")
	conn, welcome, err := o.join(birth.RoleLauncher)
	if err != nil {
		return cannotLaunch(err)
	}
	script, err := readScript(welcome.Script)
	if err != nil {
		return cannotLaunch(err)
	}
	server := reserved(args, welcome.Launch)
	f, due := script.launchFault(welcome.Seed, o.label, welcome.Launch)
	if !due {
		conn.Close()
		return become(server)
	}
	bench{conn: conn}.fault(f.announcement(script.Era))
	if _, told := <-conn.Orders(); !told {
		vanish(statusBenchGone)
	}
	go endWithBench(conn)
	return f.action().launch(f, server)
}

// launchByHand is launcherMain without a bench.
func (o options) launchByHand(args []string, b bench) (status int, launched bool) {
	f, due := o.script.launchFault(o.seed, o.label, o.launch)
	if o.ledger != "" || o.reserved != 0 || !due {
		return 0, false
	}
	setName("launcher")
	b.fault(f.announcement(o.script.Era))
	return f.action().launch(f, reserved(args, o.launch)), true
}

// reserved is the command line of a server whose launcher was given its launch.
func reserved(args []string, launch int) []string {
	return append(append([]string{os.Args[0], command}, args...), "--reserved", strconv.Itoa(launch))
}

// detachMain starts what follows and is gone: the rest of a double fork.
func detachMain(argv []string) int {
	if len(argv) == 0 {
		return statusUsage
	}
	if _, err := start(argv, [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, sameGroup); err != nil {
		return cannotLaunch(err)
	}
	return 0
}

func cannotLaunch(err error) int {
	fmt.Fprintf(os.Stderr, "leakbench %s: %v\n", launcherCommand, err)
	return statusNoBench
}

// readScript reads what the bench has sent.
func readScript(text json.RawMessage) (Script, error) {
	var script Script
	if len(text) > 0 {
		if err := json.Unmarshal(text, &script); err != nil {
			return script, fmt.Errorf("the bench's script is none: %w", err)
		}
	}
	if err := script.Check().Err(); err != nil {
		return script, fmt.Errorf("the bench's script is wrong: %w", err)
	}
	return script, nil
}

// placement is where in the tree of groups and sessions a child is put.
type placement int

const (
	sameGroup  placement = iota // that of its parent
	ownGroup                    // a process group of its own
	ownSession                  // a session of its own (setsid)
)

// start starts this binary, or another, with the files as fds 0, 1 and 2. Nothing else is inherited: all that a
// server opens is closed on exec. argv[0] need not be a path; this binary is found without it.
func start(argv []string, files [3]*os.File, where placement) (*os.Process, error) {
	path, err := pathOf(argv[0])
	if err != nil {
		return nil, err
	}
	p, err := os.StartProcess(path, argv, &os.ProcAttr{Env: os.Environ(), Files: files[:], Sys: placed(where)})
	if err != nil {
		return nil, fmt.Errorf("failed to start %s: %w", argv[0], err)
	}
	return p, nil
}

func pathOf(program string) (string, error) {
	if program == os.Args[0] {
		return os.Executable()
	}
	return program, nil
}

// startDetached starts argv as a daemon: in a session that it does not lead, with a parent that has gone.
func startDetached(argv []string, files [3]*os.File) error {
	p, err := start(append([]string{os.Args[0], detachCommand}, argv...), files, ownSession)
	if err != nil {
		return err
	}
	state, err := p.Wait()
	if err == nil && !state.Success() {
		err = fmt.Errorf("failed to start %s: %v", argv[1], state)
	}
	return err
}
