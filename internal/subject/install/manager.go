package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// manager is a runtime with its package manager.
type manager struct {
	what, hint string     // as in Missing
	tries      [][]string // commands that succeed where all of it is there
	install    func(ctx context.Context, p Params, dir string) error
	needs      []string // what it takes beside the lock file
	// compiles says that the driver itself is what is built.
	compiles bool
}

// Programs by their usual names.
const (
	python = "python3"
	npm    = "npm"
)

var managers = map[string]manager{
	"python": {
		what: python + " 3.11 or newer", hint: hints["python"], install: installPython,
		tries: [][]string{{python, "-c", "import sys, " + pythonNeeds + "; sys.exit(sys.version_info < (3, 11))"}},
	},
	"node": {
		what: "node 20 or newer, with npm", hint: hints["node"], install: installNode, needs: []string{"package.json"},
		tries: [][]string{{"node", "-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"}, {npm, "--version"}},
	},
	"rust": {
		what: "cargo 1.88 or newer", hint: hints["rust"], install: installRust, needs: []string{"Cargo.toml", sources},
		tries: [][]string{{"cargo", "--version"}}, compiles: true,
	},
}

// check says that a runtime is not there, or too old.
func (m manager) check(ctx context.Context) error {
	for _, argv := range m.tries {
		if execute(ctx, "", argv, &tail{}) != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return &Missing{What: m.what, Hint: m.hint}
		}
	}
	return nil
}

// installPython makes the folder a virtual environment. Wheels alone are taken, as a source distribution runs code of
// its own when it is installed, and what is pinned must have the hash that it is pinned with. A lock file names every package. So pip is
// not to look for those that packages need: some versions of it then pass over a pin where a newer version is out, and refuse that.
func installPython(ctx context.Context, p Params, dir string) error {
	pip, err := environment(ctx, p, dir)
	if err != nil {
		return err
	}
	pip = append(pip, "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--only-binary", ":all:")
	if p.Version == p.Pinned {
		return p.run(ctx, dir, append(pip, "--no-deps", "--require-hashes", "-r", filepath.Join(dir, p.Lock))...)
	}
	return p.run(ctx, dir, append(pip, "--", p.Package+"=="+p.Version)...)
}

// installNode installs into node_modules. Nothing here needs the scripts that a package may want to run at its
// installation. npm ci checks the hashes of the lock file.
func installNode(ctx context.Context, p Params, dir string) error {
	if p.Version == p.Pinned {
		return p.run(ctx, dir, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	}
	if err := os.Remove(filepath.Join(dir, p.Lock)); err != nil {
		return err
	}
	return p.run(ctx, dir, npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--", p.Package+"@"+p.Version)
}

// installRust builds the driver, which is a program of its own, into bin.
func installRust(ctx context.Context, p Params, dir string) error {
	argv := []string{"cargo", "install", "--path", dir, "--root", dir, "--target-dir", filepath.Join(dir, "target"), "--no-track"}
	if p.Version == p.Pinned {
		argv = append(argv, "--locked")
	} else if err := repin(filepath.Join(dir, "Cargo.toml"), p.Pinned, p.Version); err != nil {
		return err
	}
	if err := p.run(ctx, dir, argv...); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, "target"))
}

// repin names another version of the package in a manifest that has "=PINNED".
func repin(path, pinned, version string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := strings.ReplaceAll(string(text), `"=`+pinned+`"`, `"=`+version+`"`)
	if changed == string(text) {
		return fmt.Errorf("%s does not pin =%s", path, pinned)
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}

// run runs a step of an installation, in the folder.
func (p Params) run(ctx context.Context, dir string, argv ...string) error {
	output := tail{line: p.Line}
	err := execute(ctx, dir, argv, &output)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &Failed{Command: strings.Join(argv, " "), Tail: output.text(), Err: err}
}

// execute runs a program whose every process ends with it when ctx does.
func execute(ctx context.Context, dir string, argv []string, output *tail) error {
	argv = started(argv)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = killDelay
	err := run(cmd)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// killDelay is how long a package manager's pipes may outlast it.
const killDelay = 5 * time.Second

const (
	tailLines = 20
	lineMax   = 1000 // bytes of a line that are kept
)

// tail keeps the last lines of what is written to it, and passes each line on.
type tail struct {
	line    func(string)
	pending []byte
	last    []string
}

func (t *tail) Write(text []byte) (int, error) {
	t.pending = append(t.pending, text...)
	for {
		line, rest, whole := bytes.Cut(t.pending, []byte("\n"))
		if !whole {
			t.pending = t.pending[:min(len(t.pending), lineMax)]
			return len(text), nil
		}
		t.add(string(line[:min(len(line), lineMax)]))
		t.pending = rest
	}
}

func (t *tail) add(line string) {
	line = strings.TrimRight(line, "\r")
	if t.line != nil && strings.TrimSpace(line) != "" {
		t.line(line)
	}
	t.last = append(t.last, line)
	t.last = t.last[max(0, len(t.last)-tailLines):]
}

func (t *tail) text() string {
	return strings.Join(append(t.last, string(t.pending)), "\n")
}
