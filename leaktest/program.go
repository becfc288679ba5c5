package leaktest

import (
	"bytes"
	"cmp"
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
	module = "github.com/leakbench/leakbench"

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
		return "", fmt.Errorf("there is no leakbench program: %w\n  to use another one, set %s to its path: go install %s/cmd/leakbench@latest",
			err, binaryEnv, module)
	}
	return path, nil
})

func tell(format string, args ...any) { fmt.Fprintf(os.Stderr, "leaktest: "+format+"\n", args...) }

// named is the path of a program as the program itself has it, which knows others of its kind by that.
func named(given string) (string, error) {
	if filepath.Base(given) != given && !filepath.IsAbs(given) {
		given = filepath.Join(givenDir, given)
	}
	path, err := exec.LookPath(given)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// built is the program of the version that the module in dir requires. go run keeps what it builds in the build cache, which the go
// command shares between processes and trims. It is run in the module's own folder: go run MODULE@VERSION asks the network each time. One
// process does so at a time: the others then find what it has built.
func built(dir string) (string, error) {
	m, err := required(dir)
	if err != nil {
		return "", err
	}
	env, done, err := turn(m.dir)
	if err != nil {
		return "", err
	}
	defer done()
	slow := time.AfterFunc(slowBuild, func() { tell("building the leakbench program (%s), once: it takes up to a minute", m) })
	defer slow.Stop()
	for range 2 { // at first it runs from where it was built, and from the cache the next time
		out, err := goCommand(m.dir, append(env, "GOFLAGS=-mod=readonly", "GOWORK=off"),
			"run", "-buildvcs=false", "-ldflags=-X main.version="+m.version, "./cmd/leakbench", "lab", "--where")
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

// source is where this module is: the folder of a version, or one without a version, which replaces it or is the main module.
type source struct{ version, dir string }

func (s source) String() string { return cmp.Or(s.version, s.dir) }

// required asks which source the module in dir requires. A test binary does not know: its build information has no other modules.
func required(dir string) (s source, err error) {
	ask := func(flags ...string) error {
		const form = "{{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}\n{{.Dir}}"
		args := append(append([]string{"list"}, flags...), "-m", "-f", form, module)
		out, err := goCommand(dir, nil, args...)
		s.version, s.dir, _ = strings.Cut(out, "\n")
		return err
	}
	if err = ask(); err == nil && s.dir == "" { // it is vendored, without the program
		if _, err = goCommand(dir, nil, "mod", "download", module); err == nil {
			err = ask("-mod=readonly")
		}
	}
	if err == nil && s.dir == "" {
		err = fmt.Errorf("go list does not know where %s is", module)
	}
	return s, err
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
