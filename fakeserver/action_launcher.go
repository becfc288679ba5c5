package fakeserver

import "os"

// launcherAction makes the launched process a launcher, like a shell, npx or
// uvx: it starts the server as its child, hands its stdin, stdout and stderr
// down, and waits. A signal ends the launcher alone: it passes none on.
var launcherAction = action{
	name: "launcher", text: "is the child of the launched process, which is a launcher that passes no signal on and lives as long as the server",
	on:   []string{onStart},
	slot: slotLaunch,
	as: []Doc{
		{Name: "wrapper", Text: "a program like npx; the server is in its process group"},
		{Name: "shell", Text: "/bin/sh -c; the server is in its process group"},
		{Name: "own-group", Text: "a program that gives the server a process group of its own"},
		{Name: "own-session", Text: "a program that gives the server a session of its own (setsid)"},
	},
	launch: func(f Fault, argv []string) int {
		switch f.variant() {
		case "shell":
			// The exit keeps the shell from replacing itself by its last command.
			return become(append([]string{"/bin/sh", "-c", `"$@"; exit $?`, "sh"}, argv...))
		case "own-group":
			return runBelow(argv, ownGroup)
		case "own-session":
			return runBelow(argv, ownSession)
		}
		return runBelow(argv, sameGroup)
	},
}

// runBelow starts the server and waits for it. It returns its exit status, or
// 1 where a signal ended it.
func runBelow(argv []string, where placement) int {
	p, err := start(argv, [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, where)
	if err != nil {
		return cannotLaunch(err)
	}
	state, err := p.Wait()
	if err != nil {
		return cannotLaunch(err)
	}
	if code := state.ExitCode(); code >= 0 {
		return code
	}
	return 1
}
