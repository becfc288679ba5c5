package host

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// interpreters start the scripts that are drivers elsewhere by their first line, which Windows does not read. py.exe would stand between
// the bench and the host: it comes last.
var interpreters = map[string][]string{".py": {"python", "python3", "py"}, ".mjs": {"node"}, ".cjs": {"node"}, ".js": {"node"}}

// started is the command line of a program, with the interpreter of a script.
func started(path string) ([]string, error) {
	names := interpreters[strings.ToLower(filepath.Ext(path))]
	if names == nil {
		found, err := exec.LookPath(path) // with the endings of PATHEXT
		if errors.Is(err, exec.ErrNotFound) {
			if _, missing := os.Stat(path); missing != nil {
				return nil, missing
			}
			err = errors.New("no program by its name on Windows; .py, .mjs, .cjs and .js are started with python and node")
		}
		return []string{found}, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return []string{found, path}, nil
		}
	}
	return nil, fmt.Errorf("%s is not in PATH", names[0])
}
