package acceptance_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var program struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// built is the program, as a file that other users can reach, built once. TestMain removes it.
func built(t *testing.T) string {
	t.Helper()
	p := &program
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp(reachable(), "leakbench-built-"); p.err != nil {
			return
		}
		p.path = filepath.Join(p.dir, "leakbench")
		if p.err = os.Chmod(p.dir, 0o755); p.err != nil {
			return
		}
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "build", "-o", p.path, "./cmd/leakbench").CombinedOutput(); err != nil {
			p.err = fmt.Errorf("%w: %s", err, out)
			return
		}
		p.err = os.Chmod(p.path, 0o755) // whatever the umask is
	})
	require.NoError(t, p.err)
	return p.path
}

// builtBeside is a program of the tests, beside the one of the product, built once.
type builtBeside struct {
	pkg  string
	once sync.Once
	err  error
}

func (b *builtBeside) path(t *testing.T) string {
	t.Helper()
	file := filepath.Join(filepath.Dir(built(t)), filepath.Base(b.pkg))
	b.once.Do(func() {
		out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "build", "-o", file, b.pkg).CombinedOutput()
		if err != nil {
			b.err = fmt.Errorf("%w: %s", err, out)
			return
		}
		b.err = os.Chmod(file, 0o755) // whatever the umask is
	})
	require.NoError(t, b.err)
	return file
}

// reachable is a folder below which other users can reach folders of this one: a folder of a test is not, where $TMPDIR is none.
func reachable() string {
	if runtime.GOOS == "linux" {
		return "/var/tmp"
	}
	return os.TempDir()
}
