package fakeserver

import "os"

// command is the first argument that makes a binary with this package a fake
// server. Hosts' process lists and the bench's census show it.
const command = "fakeserver"

// A binary that links this package becomes the server here, before the heavy
// packages of the bench are initialised: Go initialises a package as soon as
// its own imports are, in the order of import paths. From main the first
// answer takes three times as long.
func init() {
	if len(os.Args) < 2 {
		return
	}
	twin := os.Getenv(TwinMark) != ""
	switch os.Args[1] {
	case command, launcherCommand:
		if twin {
			os.Exit(twinMain(os.Args[2:]))
		}
	}
	switch os.Args[1] {
	case command:
		os.Exit(Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	case launcherCommand:
		os.Exit(launcherMain(os.Args[2:]))
	case helperCommand:
		os.Exit(helperMain(os.Args[2:]))
	case detachCommand:
		os.Exit(detachMain(os.Args[2:]))
	}
}

// Argv is the command line that makes the binary self a fake server of the
// run. Everything is in the arguments: hosts filter the environment. session
// may be empty.
func Argv(self, ledgerPath, run, label, session string) []string {
	argv := []string{self, command, "--ledger", ledgerPath, "--run", run, "--label", label}
	if session != "" {
		argv = append(argv, "--session", session)
	}
	return argv
}
