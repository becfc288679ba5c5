package keeper

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// newCgroup makes a cgroup v2 of the run's own below the keeper's: its cgroup.kill reaches what forks faster than a
// sweep can look (cgroups(7)). Most unprivileged users can't; they get an error and do without.
func newCgroup() (*os.File, error) {
	own, err := ownCgroup()
	if err != nil {
		return nil, err
	}
	removeStale(own)
	path, err := os.MkdirTemp(own, fmt.Sprintf("%s%d-", cgroupPrefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	if _, err = os.Stat(filepath.Join(path, killFile)); err == nil { // Linux 5.14
		var dir *os.File
		if dir, err = os.Open(path); err == nil {
			return dir, nil
		}
	}
	_ = os.Remove(path)
	return nil, err
}

const cgroupPrefix = "leakbench-"

// removeStale removes the cgroups of keepers that were killed before they
// could. The kernel refuses where there still is a process in one (cgroups(7)).
func removeStale(own string) {
	paths, err := filepath.Glob(filepath.Join(own, cgroupPrefix+"*"))
	if err != nil {
		return
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(path)
		}
	}
}

// staleAfter is longer than a keeper needs from making its cgroup to starting the host in it.
const staleAfter = time.Minute

// ownCgroup is the folder of the keeper's cgroup v2: the line "0::" of /proc/self/cgroup below the cgroup2 mount.
func ownCgroup() (string, error) {
	lines, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range bytes.Lines(mounts) {
		fields := strings.Fields(string(line))
		dash := slices.Index(fields, "-")
		if dash < 0 || dash+1 >= len(fields) || fields[dash+1] != "cgroup2" || len(fields) < 5 {
			continue
		}
		for line := range bytes.Lines(lines) {
			if own, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "0::"); ok {
				return filepath.Join(fields[4], own), nil
			}
		}
	}
	return "", errors.New("no cgroup v2 here")
}
