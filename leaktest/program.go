package leaktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/lines"
)

const (
	module  = "github.com/leakbench/leakbench"
	command = "/cmd/leakbench" // of the module

	// binaryEnv names the program, as in the libraries for other languages.
	binaryEnv = "LEAKBENCH_BINARY"
)

// The environment and the folder that go test gives. Tests change both, and a HOME of their own has neither modules nor a build cache.
var (
	givenEnv    = os.Environ()
	givenDir, _ = os.Getwd()
)

// program is the path of the leakbench program. A test binary finds or builds it once, and only if it needs it.
var program = sync.OnceValues(func() (string, error) {
	if given := os.Getenv(binaryEnv); given != "" {
		path, err := named(given)
		if err != nil {
			return "", fmt.Errorf("%s: %w", binaryEnv, err)
		}
		tell("the leakbench program is %s (%s)", path, binaryEnv)
		return path, nil
	}
	path, err := built(givenDir)
	if err != nil {
		return "", fmt.Errorf("there is no leakbench program: %w\n  to use another one, set %s to its path: go install %s@latest",
			err, binaryEnv, module+command)
	}
	return path, nil
})

func tell(format string, args ...any) { fmt.Fprintf(os.Stderr, "leaktest: "+format+"\n", args...) }

// named is the path of a program as the program itself has it, which knows others of its kind by that.
func named(given string) (string, error) {
	path, err := exec.LookPath(given)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(givenDir, path)
	}
	return filepath.EvalSymlinks(path)
}

// built is the program of the version that the module in dir requires, or of its source where that is a folder. go run keeps what it
// builds in the build cache, which the go command shares between processes and trims.
func built(dir string) (string, error) {
	m, err := required(dir)
	if err != nil {
		return "", err
	}
	slow := time.AfterFunc(slowBuild, func() { tell("building the leakbench program (%s), once: it takes up to a minute", m) })
	defer slow.Stop()
	for range 2 { // at first it runs from where it was built, and from the cache the next time
		out, err := goCommand(m.dir, []string{"GOFLAGS=-mod=readonly", "GOWORK=off"}, "run", "-buildvcs=false", m.arg(), "lab", "--where")
		if err != nil {
			return "", err
		}
		if path, err := named(out); err == nil {
			return path, nil
		}
	}
	return "", errors.New("go run has not left it in the build cache (GOCACHEPROG?)")
}

// slowBuild is how long it takes to find out that all is built, and more.
const slowBuild = 2 * time.Second

// source is where the program comes from: a version of the module, or a folder.
type source struct{ version, dir string }

func (s source) String() string {
	if s.version != "" {
		return s.version
	}
	return s.dir
}

func (s source) arg() string {
	if s.version != "" {
		return module + command + "@" + s.version
	}
	return "." + command
}

// required asks which source the module in dir requires. A test binary does not know: its build information has no other modules.
func required(dir string) (s source, err error) {
	for _, flags := range [][]string{nil, {"-mod=readonly"}} { // a vendored module has no folder, as far as go list knows
		args := append(append([]string{"list"}, flags...), "-m", "-f", "{{if not .Replace}}{{.Version}}{{end}}\n{{.Dir}}", module)
		var out string
		if out, err = goCommand(dir, nil, args...); err != nil {
			continue
		}
		if version, folder, _ := strings.Cut(out, "\n"); version != "" {
			return source{version: version}, nil
		} else if folder != "" {
			return source{dir: folder}, nil
		}
		err = fmt.Errorf("go list does not know where %s is", module)
	}
	return source{}, err
}

// goCommand runs the go command as the environment of the test binary has it, and returns what it prints.
func goCommand(dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	if dir == "" {
		cmd.Dir = givenDir
	}
	cmd.Env = append(append(givenEnv[:len(givenEnv):len(givenEnv)], env...), "PWD="+cmd.Dir)
	errs := lines.Head{Max: 16 << 10}
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	// The first line may be empty.
	return strings.TrimRight(string(out), "\r\n"), nil
}
