//go:build !unix

package install

import (
	"context"
	"os"
	"os/exec"
)

func ownGroup(cmd *exec.Cmd) { cmd.Cancel = func() error { return cmd.Process.Kill() } }

// lock takes a file that only one can have; there is nothing to wait for it
// with.
func lock(_ context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	return func() { f.Close(); _ = os.Remove(path) }, nil
}
