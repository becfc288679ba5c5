//go:build !windows

package subject

import "os/exec"

// pythonProgram is what an environment of Python needs in PATH.
const pythonProgram = "python3"

// startedAs is what starts a program of an installed environment.
func startedAs(path string) (argv, env []string) { return []string{path}, nil }

// started is the command line of a program. A script names its interpreter itself.
func started(path string) ([]string, error) {
	_, err := exec.LookPath(path) // says whether it may be executed
	return []string{path}, err
}
