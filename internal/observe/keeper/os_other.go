//go:build !linux

package keeper

import (
	"errors"
	"os"

	"github.com/leakbench/leakbench/internal/record"
)

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

// reapOrphan has nothing to do: what others have started does not come to the bench here.
func reapOrphan(int) {}
