//go:build !windows

package host

import "os/exec"

// started is the command line of a program. A script names its interpreter itself.
func started(path string) ([]string, error) {
	_, err := exec.LookPath(path) // says whether it may be executed
	return []string{path}, err
}
