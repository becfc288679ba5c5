package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mount changes mounts. anywhere has started this process in its own mount namespace.
func (o orders) mount() error {
	if !o.NoCgroup && o.ReadOnly == "" {
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts to this namespace: %w", err)
	}
	if o.NoCgroup {
		if err := hideCgroups(); err != nil {
			return err
		}
	}
	if o.ReadOnly == "" {
		return nil
	}
	// Only the mount of ReadOnly becomes read-only below. Each folder in Writable is a mount of its own.
	for _, dir := range append([]string{o.ReadOnly}, o.Writable...) {
		if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", dir, err)
		}
	}
	if err := unix.Mount("", o.ReadOnly, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("mounting %s read-only: %w", o.ReadOnly, err)
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	return os.Chdir(here) // the current folder is still that of the old mount
}

// hideCgroups unmounts every cgroup file system. A new /proc shows the processes of the new PID namespace.
func hideCgroups() error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	var dirs []string
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 2 && strings.HasPrefix(fields[2], "cgroup") {
			dirs = append(dirs, fields[1])
		}
	}
	slices.Reverse(dirs) // inner mounts come later in the list
	for _, dir := range dirs {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmounting %s: %w", dir, err)
		}
	}
	err = unix.Mount("tmpfs", "/sys/fs/cgroup", "tmpfs", unix.MS_RDONLY, "size=4k")
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("covering /sys/fs/cgroup: %w", err)
	}
	return nil
}
