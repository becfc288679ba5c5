package subject

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// runtimes are the programs that a preset's packages need, and what brings them where they are missing.
var runtimes = map[string]struct{ program, install string }{
	"node":   {"node", "install Node.js 20 or newer (apt-get install nodejs npm, brew install node, or nodejs.org)"},
	"python": {pythonProgram, "install Python 3.11 or newer (apt-get install python3-venv, brew install python, or python.org)"},
	"rust":   {"cargo", "install Rust (apt-get install cargo, or rustup.rs)"},
	"go":     {"go", "install Go (apt-get install golang, brew install go, or go.dev)"},
}

// MissingProgram says what is wrong with the program of a command line, and what to do about it: the error is a *Missing.
func MissingProgram(name string) error {
	_, err := exec.LookPath(name)
	here := "." + string(filepath.Separator) + name
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return &Missing{What: name + " can't be started: it is not executable", Run: "chmod +x " + text.Shell([]string{name})}
	case errors.Is(err, exec.ErrNotFound) && IsFile(name):
		return &Missing{What: name + " is not in PATH", Run: "a file in this folder is started by its path: " + here}
	case errors.Is(err, exec.ErrNotFound) && strings.ContainsAny(name, " \t"):
		return &Missing{What: fmt.Sprintf("no program is called %q", name), Run: "leave the quotes around the command out: " + name}
	case errors.Is(err, exec.ErrNotFound):
		return &Missing{What: name + " is not in PATH", Run: "check the name of the program, or give its path"}
	}
	return &Missing{What: name + " can't be started: " + cause(err).Error(), Run: "check the path of the program"}
}

// cause is the reason of an error without the names of what was asked for.
func cause(err error) error {
	var path *fs.PathError
	var program *exec.Error
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &program):
		return program.Err
	}
	return err
}

// Check says, before anything is played, what the host needs and this machine does not have: the error is a *Missing.
func (s Spec) Check() error {
	switch {
	case s.File == "" && s.Kind == record.KindCommand:
		return MissingProgram(s.Argv[0])
	case s.File == "":
		return nil // part of the program, or a driver that was looked up
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
	argv, _ := startedAs(f.plain(s.Argv[0]))
	program := argv[0]
	if strings.Contains(program, "{{") {
		return nil // only a run knows it
	}
	if _, err := exec.LookPath(program); err != nil {
		return &Missing{What: fmt.Sprintf("the command of host %s can't be started: %v", s.Name, err), Run: install}
	}
	return nil
}
