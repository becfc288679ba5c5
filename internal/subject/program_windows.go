package subject

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/leakbench/leakbench/internal/subject/python"
)

// interpreters start the scripts that are drivers elsewhere by their first line, which Windows does not read.
var interpreters = map[string]func() (string, error){".py": thePython, ".mjs": node, ".cjs": node, ".js": node}

func thePython() (string, error) {
	if found := python.Find(); found != "" {
		return found, nil
	}
	return "", errors.New("no program of the name python, python3 or py starts a Python")
}

func node() (string, error) {
	found, err := exec.LookPath("node")
	if err != nil {
		err = errors.New("node is not in PATH")
	}
	return found, err
}

// started is the command line of a program, with the interpreter of a script.
func started(path string) ([]string, error) {
	interpreter := interpreters[strings.ToLower(filepath.Ext(path))]
	if interpreter == nil {
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
	found, err := interpreter()
	return []string{found, path}, err
}

// pythonProgram: what starts an environment of Python is named in it.
const pythonProgram = ""

// launcherEnv tells an interpreter which program of an environment it stands for (PC/launcher.c and Modules/getpath.py of CPython, which
// removes it).
const launcherEnv = "__PYVENV_LAUNCHER__"

// startedAs is what starts a program of an installed environment, {{install}}/bin/NAME, and what it needs in its environment. The
// python.exe of an environment is a launcher: the interpreter would be its child, and the launcher the host. The other programs there are
// launchers of that launcher, and have the path of the folder inside that they were made in.
func startedAs(path string) (argv, env []string) {
	clean := filepath.Clean(path)
	root, name := filepath.Dir(filepath.Dir(clean)), filepath.Base(clean)
	interpreter := ""
	if filepath.Dir(clean) == filepath.Join(root, "bin") {
		interpreter = interpreterOf(root)
	}
	if interpreter == "" {
		return []string{path}, nil
	}
	argv, env = []string{interpreter}, []string{launcherEnv + "=" + filepath.Join(root, "Scripts", "python.exe")}
	if name != "python" {
		argv = append(argv, "-c", fmt.Sprintf(entryPoint, name))
	}
	return argv, env
}

// entryPoint does what a program does that pip makes.
const entryPoint = "import sys; from importlib.metadata import entry_points; sys.argv[0] = %[1]q; " +
	"sys.exit(next(iter(entry_points(group='console_scripts', name=%[1]q))).load()())"

// interpreterOf is what an environment was made with, or "".
func interpreterOf(root string) string {
	settings, err := os.ReadFile(filepath.Join(root, "pyvenv.cfg"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(settings)) {
		if key, value, _ := strings.Cut(line, "="); strings.TrimSpace(key) == "executable" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
