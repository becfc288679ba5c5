//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// longest is how long one command may take inside of a machine.
const longest = 4 * time.Minute

// inside is the init of the machine: it plays the settings, says what came of it on the second serial line, and turns the machine off.
func inside() {
	err := playInside()
	if err != nil {
		fmt.Println("kernels:", err)
	}
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART) // with -no-reboot qemu ends
}

func playInside() error {
	if err := mountAll(); err != nil {
		return err
	}
	line, err := os.OpenFile("/dev/ttyS1", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	times, only, err := orders()
	if err != nil {
		return err
	}
	say := json.NewEncoder(line)
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return err
	}
	for _, s := range chosen(only, versionOf(unix.ByteSliceToString(name.Release[:]))) {
		if err := s.prepare(); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := say.Encode(s.play("doctor", "doctor", "--format", "json")); err != nil {
			return err
		}
		for range times {
			for _, h := range hosts {
				if err := say.Encode(s.play(h.name, "run", "storm", "--host", h.name, "--format", "json", "--out", "/home/bench/runs")); err != nil {
					return err
				}
			}
		}
	}
	return errors.Join(say.Encode(result{End: true}), drain(line))
}

// drain waits until the serial line has sent everything.
func drain(line *os.File) error {
	return unix.IoctlSetInt(int(line.Fd()), unix.TCSBRK, 1)
}

func mountAll() error {
	for _, m := range []struct{ what, where, options string }{
		{"devtmpfs", "/dev", ""},
		{"proc", "/proc", ""},
		{"sysfs", "/sys", ""},
		{"tmpfs", "/tmp", "mode=1777"},
		{"tmpfs", "/home", "size=4g"},
		{"tmpfs", "/run", ""},
		{"cgroup2", "/sys/fs/cgroup", ""},
		{"tracefs", "/sys/kernel/tracing", ""},
	} {
		if err := os.MkdirAll(m.where, 0o755); err != nil && m.what != "tracefs" {
			return err
		}
		if err := unix.Mount(m.what, m.where, m.what, 0, m.options); err != nil && m.what != "tracefs" && !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("failed to mount %s: %w", m.where, err)
		}
	}
	modules, _ := filepath.Glob("/modules/*.ko")
	for _, path := range modules {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := unix.InitModule(data, ""); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// orders are in the kernel's command line.
func orders() (times int, only *regexp.Regexp, err error) {
	line, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return 0, nil, err
	}
	for _, word := range strings.Fields(string(line)) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "kernels.times":
			times, err = strconv.Atoi(value)
		case "kernels.only":
			var pattern []byte
			if pattern, err = hex.DecodeString(value); err == nil {
				only, err = regexp.Compile(string(pattern))
			}
		}
		if err != nil {
			return 0, nil, err
		}
	}
	return times, only, nil
}

// prepare makes the machine what the setting says, and takes back what the one before has made of it.
func (s setting) prepare() error {
	hidepid := "hidepid=" + map[bool]string{true: "0", false: s.hidepid}[s.hidepid == ""]
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_REMOUNT, hidepid); err != nil {
		return fmt.Errorf("%s: %w", hidepid, err)
	}
	spaces := "4096"
	if s.noSpaces {
		spaces = "0"
	}
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte(spaces), 0o644); err != nil {
		return err
	}
	if s.yama != "" {
		if err := os.WriteFile("/proc/sys/kernel/yama/ptrace_scope", []byte(s.yama), 0o644); err != nil {
			return err
		}
	}
	if err := os.RemoveAll("/home/bench"); err != nil {
		return err
	}
	if err := os.MkdirAll("/home/bench", 0o700); err != nil {
		return err
	}
	return os.Chown("/home/bench", s.user, s.user)
}

// play runs the bench once.
func (s setting) play(what string, args ...string) result {
	r := result{Setting: s.name, What: what}
	cmd := exec.Command("/bin/leakbench", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(s.user), Gid: uint32(s.user)}}
	cmd.Dir, cmd.Env = "/home/bench", environment
	if s.container {
		if err := s.bundle(append([]string{"/bin/leakbench"}, args...)); err != nil {
			r.Error = err.Error()
			return r
		}
		// The first file system can't be pivoted away from.
		cmd = exec.Command("/bin/runc", "run", "--no-pivot", "--bundle", "/run/bundle", "bench")
		cmd.Env = environment
	}
	var out, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &complained, time.Second
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		r.Error = err.Error()
		return r
	}
	late := time.AfterFunc(longest, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case !late.Stop():
		r.Error = "still running after " + longest.String()
	case err != nil && !errors.As(err, &exit):
		r.Error = err.Error()
	}
	r.Code, r.Took, r.Out, r.Err = cmd.ProcessState.ExitCode(), time.Since(begun), out.Bytes(), complained.Bytes()
	if what != "doctor" {
		r.Run = packed("/home/bench/runs/latest/run.jsonl")
	}
	return r
}

var environment = []string{"PATH=/bin", "HOME=/home/bench", "LANG=C.UTF-8"}

// packed is a file, gzipped; empty where there is none.
func packed(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.Copy(w, file)
	_ = w.Close()
	return b.Bytes()
}
