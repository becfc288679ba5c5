package keeper

import (
	"os"
	"path/filepath"
)

// killFile ends what is in a cgroup that a 1 is written to it of.
const killFile = "cgroup.kill"

// killCgroup kills what is in a cgroup; "" is none.
func killCgroup(path string) {
	if path != "" {
		_ = os.WriteFile(filepath.Join(path, killFile), []byte("1"), 0)
	}
}

// removeCgroup removes a cgroup of newCgroup, if there is one.
func removeCgroup(dir *os.File) {
	if dir != nil {
		dir.Close()
		_ = os.Remove(dir.Name())
	}
}

// TryCgroup says why a run can't have a cgroup of its own.
func TryCgroup() error {
	dir, err := newCgroup()
	removeCgroup(dir)
	return err
}
