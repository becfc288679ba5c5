package doctor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/proc"
)

// Lack is what no run can do without, and this machine or this user does not give.
type Lack struct {
	Name  string // of the line that tells of it
	Found string
	Do    string
}

func (l Lack) Error() string { return l.Found + ": nothing was run" }

// Lacks looks for all that a run can't do without, before anything is started. self is the program that plays every part.
func Lacks(self string) []Lack {
	all := limits() // first: with too few files nothing else can be tried
	need := func(name string, err error, do string) {
		if err != nil && !errors.Is(err, syscall.EMFILE) {
			all = append(all, Lack{name, strings.ReplaceAll(err.Error(), "\n", "; "), do})
		}
	}
	need(needProc, tryProc(), procAdvice)
	need("program", tryProgram(self), "start leakbench again, from a path that stays")
	need("devices", tryDevices(), "mount a /dev that has null: mount -t devtmpfs none /dev, or bind-mount /dev/null")
	need("sockets", trySockets(), "set TMPDIR to a short path that is writable")
	return all
}

// The lines that Diagnose has as well.
const (
	needProc      = "proc"
	needFiles     = "files"
	needProcesses = "processes"
)

// tryProc says why the processes of a run could not be seen.
func tryProc() error {
	switch err := proc.TryProc(); {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("/proc is not mounted, so no process can be seen")
	case err != nil:
		return fmt.Errorf("no process of a run can be seen: %w", err)
	}
	return nil
}

func tryProgram(self string) error {
	if self == "" {
		return nil // which /proc tells
	}
	info, err := os.Stat(self)
	switch {
	case err != nil:
		return fmt.Errorf("leakbench cannot start itself as keeper and server: %w", err)
	case info.Mode()&0o111 == 0 && runtime.GOOS != "windows":
		return fmt.Errorf("leakbench cannot start itself as keeper and server: %s is not executable", self)
	case !utf8.ValidString(self):
		return fmt.Errorf("the path of this program is not UTF-8: %q", self)
	}
	return nil
}

// tryDevices tries what every process that is started is given for the streams that it has not.
func tryDevices() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("no process can be started without the null device: %w", err)
	}
	return null.Close()
}

// trySockets makes a folder for sockets, and removes it.
func trySockets() error {
	dir, err := ledger.NewDir()
	if err != nil {
		return err
	}
	return ledger.RemoveDir(dir)
}
