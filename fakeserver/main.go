// Package fakeserver is an MCP server over stdio that is correct until its script says otherwise. It takes its script
// and its launch number from the bench's ledger, announces there what it sees and each fault before it commits it,
// and ends at once when the bench is gone, whatever it ignores.
//
// A binary that imports this package is the server when its first argument is "fakeserver". The package must stay
// light: it imports the standard library, and package birth, and nothing else.
//
// A new action is an entry in the table of one of the files actions_*.go.
package fakeserver

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

// command is the first argument that makes a binary with this package a fake
// server. Hosts' process lists and the bench's census show it.
const command = "fakeserver"

// A binary that links this package becomes the server here, before the heavy packages of the bench are initialised:
// Go initialises a package as soon as its own imports are, in the order of import paths. From main the first answer
// takes three times as long. On Windows it hears no console event for that reason: Go delivers them when the initialisation is over
// (runtime.cgocallbackg). The CTRL_C that the bench sends to a host is for that alone.
func init() {
	listActions()
	if len(os.Args) < 2 {
		return
	}
	if server := os.Args[1] == command || os.Args[1] == launcherCommand; server && os.Getenv(TwinMark) != "" {
		os.Exit(twinMain(os.Args[2:]))
	}
	switch os.Args[1] {
	case command:
		os.Exit(serverMain(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	case launcherCommand:
		os.Exit(launcherMain(os.Args[2:]))
	case helperCommand:
		os.Exit(helperMain(os.Args[2:]))
	case detachCommand:
		os.Exit(detachMain(os.Args[2:]))
	}
	if args, ok := misplaced(os.Args[1:]); ok {
		os.Exit(serverMain(args, os.Stdin, os.Stdout, os.Stderr))
	}
}

// misplaced are the arguments of a server whose host has moved them: flags before the word, which some gateways sort so, or all of them
// as one text, which is no command line. ok is false where this is no server.
func misplaced(args []string) (flags []string, ok bool) {
	all := strings.Join(args, " ")
	if !strings.HasPrefix(all, "-") && !strings.HasPrefix(args[0], command+" ") || !strings.Contains(all, "--ledger") {
		return nil, false
	}
	i := slices.Index(args, command)
	if i < 0 {
		return args, strings.Contains(all, command)
	}
	return slices.Delete(slices.Clone(args), i, i+1), true
}

// Argv is the command line that makes the binary self a fake server of the run. Everything is in the arguments: hosts
// filter the environment. session may be empty.
func Argv(self, ledgerPath, run, label, session string) []string {
	argv := []string{self, command, "--ledger", ledgerPath, "--run", run, "--label", label}
	if session != "" {
		argv = append(argv, "--session", session)
	}
	return argv
}

// serverMain runs the server with the arguments after "fakeserver" and returns the
// exit status, if it returns at all: most ends exit at once.
func serverMain(args []string, stdin io.Reader, stdout *os.File, stderr io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		writeHelp(stdout)
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "leakbench fakeserver: %v\nRun 'leakbench fakeserver --help' for usage.\n", err)
		birth.Misstarted(os.Args[1:], err)
		return statusUsage
	}
	time.AfterFunc(o.lifetime, func() { vanish(statusLifetime) })
	if status, launched := o.launchByHand(args, bench{stderr: stderr}); launched {
		return status
	}
	if o.attached {
		stdin = &attached{from: bufio.NewReader(stdin)}
	}
	s, err := prepareAside(o, stdin, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "leakbench fakeserver: %v\n", err)
		return statusNoBench
	}
	s.run()
	return 0
}

// prepareAside prepares on a goroutine of its own. Main's is bound to the process's first thread while packages are initialised,
// and each wait of such a goroutine takes two switches of threads. Reading stdin stays with the first thread: it is the one that
// /proc shows, and so a waiting server is seen in read(0), as those of other languages are.
func prepareAside(o options, stdin io.Reader, stdout *os.File, stderr io.Writer) (s *server, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s, err = prepare(o, stdin, stdout, stderr)
	}()
	<-done
	return s, err
}

// prepare gets the server born, and everything in force but the reading.
func prepare(o options, stdin io.Reader, stdout *os.File, stderr io.Writer) (*server, error) {
	b, script, play, err := o.born(stderr)
	if err != nil {
		return nil, err
	}
	caught := catchSignals()
	s := newServer(o, script, play, b, stdin, stdout)
	if b.conn != nil {
		go s.obey()
	}
	go s.watchSignals(caught)
	s.enlist(script)
	return s, nil
}

// born gets the script, the launch number and the seed: from the bench, or by hand from the flags.
func (o options) born(stderr io.Writer) (bench, Script, birth.Welcome, error) {
	b := bench{stderr: stderr}
	if o.ledger == "" {
		return b, o.script, birth.Welcome{Launch: o.launch, Seed: o.seed}, nil
	}
	c := certificate(o)
	c.Launch = o.reserved
	conn, welcome, err := birth.Dial(o.ledger, c)
	if err != nil {
		return b, Script{}, welcome, err
	}
	b.conn = conn
	b.stderr = &stderrTap{to: stderr, bench: b}
	script, err := readScript(welcome.Script)
	if _, due := script.launchFault(welcome.Seed, o.label, welcome.Launch); err == nil && due && o.reserved == 0 {
		err = errors.New("the script wants a launcher, and none launched this server")
	}
	return b, script, welcome, err
}
