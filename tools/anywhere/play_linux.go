package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// onlyLinux is the reason why no row can be played on another system.
const onlyLinux = ""

// playBelowWarden plays a command in a place. It returns an error if this machine can't provide the place.
func playBelowWarden(ctx context.Context, p *place, command []string, log *os.File) (did played, err error) {
	o := p.orders
	o.Command = command
	text, err := json.Marshal(o)
	if err != nil {
		return did, err
	}
	self, err := os.Executable()
	if err != nil {
		return did, err
	}
	leash, hold, err := os.Pipe()
	if err != nil {
		return did, err
	}
	defer hold.Close()
	said, tell, err := os.Pipe()
	if err != nil {
		leash.Close()
		return did, err
	}
	defer said.Close()
	cmd := exec.CommandContext(ctx, self, partWarden, string(text))
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, append(p.env, "PWD="+p.dir), log, log
	cmd.ExtraFiles = []*os.File{leash, tell}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Cloneflags: o.namespaces()}
	cmd.Cancel = hold.Close // then the warden kills everything below it, and exits
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Start()
	leash.Close()
	tell.Close()
	if errors.Is(err, unix.EPERM) {
		return did, fmt.Errorf("starting a process in new namespaces: %w", err)
	}
	if err != nil {
		return did, fmt.Errorf("starting the warden: %w", err)
	}
	err = cmd.Wait()
	did.user, did.system = cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()
	if json.NewDecoder(said).Decode(&did.report) != nil {
		did.Status = 1
		fmt.Fprintln(log, "anywhere: the warden has ended:", err)
		return did, ctx.Err()
	}
	if did.Cant != "" {
		return did, errors.New(did.Cant)
	}
	return did, ctx.Err()
}

func (o orders) namespaces() uintptr {
	switch {
	case o.NoCgroup:
		return unix.CLONE_NEWNS | unix.CLONE_NEWPID
	case o.ReadOnly != "":
		return unix.CLONE_NEWNS
	}
	return 0
}

// ownGroup puts a command into its own process group. Cancelling the command kills the group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
}

// allowedProcessors returns the numbers of the processors that this process may use.
func allowedProcessors() (all []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("reading the processors: %w", err)
	}
	for n := 0; len(all) < set.Count(); n++ {
		if set.IsSet(n) {
			all = append(all, n)
		}
	}
	return all, nil
}

// makeRootsFolder makes a folder that everybody may enter. A folder that exists already must belong to root: anybody could have made it
// in /var/tmp.
func makeRootsFolder(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if stat, known := info.Sys().(*syscall.Stat_t); !known || !info.IsDir() || stat.Uid != 0 {
		return fmt.Errorf("%s is not a folder that belongs to root", dir)
	}
	return os.Chmod(dir, 0o755) // whatever the umask is
}

// lock returns an error if another process holds the lock.
func lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("another command plays this row: locking %s: %w", path, err)
	}
	return func() {
		_ = unix.Flock(int(file.Fd()), unix.LOCK_UN) // a child that is being started may have the file a moment longer
		file.Close()
	}, nil
}
