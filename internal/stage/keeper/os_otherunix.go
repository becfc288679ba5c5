//go:build !linux && unix

package keeper

import (
	"errors"
	"os"

	"github.com/leakbench/leakbench/internal/record"
)

// Without a subreaper the keeper waits for the host alone, and nothing else can be put beside it.

func (k *process) spawn(path string, argv []string, attr *os.ProcAttr, _ record.Place) (pid int, err error) {
	attr.Sys = ownGroup()
	return startProcess(path, argv, attr)
}

// CanStandBy says that HostParams.Bystander works here. It does not: nobody would see it end.
const CanStandBy = false

func (k *process) startBystander(record.Identity) (*record.Process, error) {
	return nil, errors.ErrUnsupported
}

func (k *process) startTwin(HostParams) (*record.Process, error) { return nil, errors.ErrUnsupported }

// CanLimitFiles says that HostParams.Files works here. It does not: there is no prlimit(2).
const CanLimitFiles = false

func limitFiles(_, n int) error {
	if n == 0 {
		return nil
	}
	return errors.New("the open files of another process can't be limited on this system")
}

// Placement is for Linux alone.
func Placement([]string) int { return 2 }

type placementLink struct{}

func (k *process) startPlaced(string, HostParams, *os.ProcAttr) (*record.Process, error) {
	return nil, noPlace(errors.ErrUnsupported)
}

func (k *process) recycle(int) (*record.Process, error) { return nil, errors.ErrUnsupported }

func newCgroup() (*os.File, error) { return nil, errors.ErrUnsupported }

// reapOrphan has nothing to do: the bench is no subreaper here.
func reapOrphan(int) {}
