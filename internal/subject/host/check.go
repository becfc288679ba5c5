package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

// runtimes are the programs that a preset's packages need, and what brings them where they are missing.
var runtimes = map[string]struct{ program, install string }{
	"node":   {"node", "install Node.js 20 or newer (apt-get install nodejs npm, brew install node, or nodejs.org)"},
	"python": {"python3", "install Python 3.11 or newer (apt-get install python3-venv, brew install python, or python.org)"},
	"rust":   {"cargo", "install Rust (apt-get install cargo, or rustup.rs)"},
	"go":     {"go", "install Go (apt-get install golang, brew install go, or go.dev)"},
}

// Check says, before anything is played, what the host needs and this machine does not have: the error is a *Missing.
func (s Spec) Check() error {
	if s.File == "" {
		return nil // a command line, or part of the program
	}
	install := "" // what may help
	if s.Install != nil {
		install = "leakbench hosts install " + cmp.Or(s.Given, s.Name)
		r := runtimes[s.Install.Runtime]
		if _, err := exec.LookPath(r.program); err != nil && r.program != "" {
			return &Missing{What: fmt.Sprintf("the host %s needs %s, which is not in PATH", s.Name, r.program), Run: r.install}
		}
		if _, err := os.Stat(s.InstallDir); errors.Is(err, fs.ErrNotExist) {
			return &Missing{What: fmt.Sprintf("the host %s %s is not installed (no %s)", s.Name, s.Version, s.InstallDir), Run: install}
		}
	}
	f := filler{words: map[string]string{"dir": s.Dir, "install": s.InstallDir, "version": s.Version}}
	program := f.plain(s.Argv[0])
	if strings.Contains(program, "{{") {
		return nil // only a run knows it
	}
	if _, err := exec.LookPath(program); err != nil {
		return &Missing{What: fmt.Sprintf("the command of host %s can't be started: %v", s.Name, err), Run: install}
	}
	return nil
}
