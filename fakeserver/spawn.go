package fakeserver

import (
	"fmt"
	"os"
)

// placement is where in the tree of groups and sessions a child is put.
type placement int

const (
	sameGroup  placement = iota // that of its parent
	ownGroup                    // a process group of its own
	ownSession                  // a session of its own (setsid)
)

// start starts this binary, or another, with the files as fds 0, 1 and 2.
// Nothing else is inherited: all that a server opens is closed on exec. argv[0]
// need not be a path; this binary is found without it.
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

// startDetached starts argv as a daemon: in a session that it does not lead,
// with a parent that has gone.
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
