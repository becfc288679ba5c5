package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// manager is a runtime with its package manager.
type manager struct {
	check   func(context.Context) error
	install func(ctx context.Context, p Params, dir string) error
	// compiles says that the driver itself is what is built.
	compiles bool
}

var managers = map[string]manager{
	"python": {
		check: func(ctx context.Context) error {
			return need(ctx, "python3 3.11 or newer", "apt-get install python3 python3-venv, or brew install python",
				"python3", "-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))")
		},
		install: installPython,
	},
	"node": {
		check: func(ctx context.Context) error {
			const what, hint = "node 20 or newer, with npm", "apt-get install nodejs npm, or brew install node"
			return errors.Join(
				need(ctx, what, hint, "node", "-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"),
				need(ctx, what, hint, "npm", "--version"))
		},
		install: installNode,
	},
	"rust": {
		check: func(ctx context.Context) error {
			return need(ctx, "cargo 1.88 or newer", "install Rust with rustup, or apt-get install cargo", "cargo", "--version")
		},
		install: installRust, compiles: true,
	},
}

// need says that a program which must be there and succeed is not, or does not.
func need(ctx context.Context, what, hint string, argv ...string) error {
	var tail tail
	err := execute(ctx, "", argv, &tail)
	if err != nil && ctx.Err() == nil {
		return &Missing{What: what, Hint: hint}
	}
	return err
}

// installPython makes the folder a virtual environment.
func installPython(ctx context.Context, p Params, dir string) error {
	if err := p.run(ctx, dir, "python3", "-m", "venv", dir); err != nil {
		return err
	}
	pip := []string{filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"}
	if p.Version == p.Pinned {
		return p.run(ctx, dir, append(pip, "-r", filepath.Join(dir, p.Lock))...)
	}
	return p.run(ctx, dir, append(pip, p.Package+"=="+p.Version)...)
}

// installNode installs into node_modules. Nothing here needs the scripts that
// a package may want to run at its installation.
func installNode(ctx context.Context, p Params, dir string) error {
	if p.Version == p.Pinned {
		return p.run(ctx, dir, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	}
	if err := os.Remove(filepath.Join(dir, p.Lock)); err != nil {
		return err
	}
	return p.run(ctx, dir, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", p.Package+"@"+p.Version)
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
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = killDelay
	ownGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
