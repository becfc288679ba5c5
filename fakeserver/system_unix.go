//go:build unix

package fakeserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

func certificate(o options) birth.Certificate {
	// getsid and getpgid of oneself do not fail; package syscall has no Getsid.
	sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	return birth.Certificate{
		Run: o.run, Label: o.label, Session: o.session,
		PID: os.Getpid(), PPID: os.Getppid(), PGID: syscall.Getpgrp(), SID: int(sid), DeathSignal: parentDeathSignal,
	}
}

func placed(where placement) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: where == ownGroup, Setsid: where == ownSession}
}

// become turns this process into another program.
func become(argv []string) int {
	path, err := pathOf(argv[0])
	if err == nil {
		err = syscall.Exec(path, argv, os.Environ())
	}
	return cannotLaunch(err)
}

// underShell turns this process into a shell that starts the server and waits for it.
func underShell(argv []string) int {
	return become(append([]string{"/bin/sh", "-c", ShellLauncher, "sh"}, argv...))
}

// connected is a pair of sockets, each other's peer. One of them is both ends of the other side.
func connected() (theirIn, theirOut, ours *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, nil, os.NewSyscallError("socketpair", err)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	theirs := os.NewFile(uintptr(fds[0]), "socket")
	return theirs, theirs, os.NewFile(uintptr(fds[1]), "socket"), nil
}

// holdFile makes the file and locks it, for as long as what it returns is open
// and this process lives: children do not inherit it.
func holdFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errTaken
		}
		return nil, fmt.Errorf("failed to lock %s: %w", path, err)
	}
	return f, nil
}

// isHeld says that a living process has the file locked.
func isHeld(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// holdPort listens on the port whose number is in the file; the first one lets the kernel choose it and writes it there.
func holdPort(path string) (*os.File, error) {
	note, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer note.Close()
	if err := syscall.Flock(int(note.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("failed to lock %s: %w", path, err)
	}
	text := make([]byte, 8)
	n, _ := note.Read(text)
	port, _ := strconv.Atoi(string(bytes.TrimSpace(text[:n])))
	socket, chosen, err := listen(port)
	if err == nil && port == 0 {
		_, err = fmt.Fprintln(note, chosen)
	}
	return socket, err
}

// listen does without package net; see birth.connect.
func listen(port int) (*os.File, int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, 0, os.NewSyscallError("socket", err)
	}
	syscall.CloseOnExec(fd)
	socket := os.NewFile(uintptr(fd), "port")
	// Connections that somebody made to the one before must not keep the port.
	_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = syscall.Listen(fd, 1)
	}
	if err != nil {
		_ = socket.Close()
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, 0, errTaken
		}
		return nil, 0, os.NewSyscallError("listen", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return nil, 0, os.NewSyscallError("getsockname", err)
	}
	if in, ok := name.(*syscall.SockaddrInet4); ok {
		port = in.Port
	}
	return socket, port, nil
}

// inUse asks as many do, with signal 0: a zombie has its pid still.
func inUse(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

func endProcess(p *os.Process, sig syscall.Signal) { _ = p.Signal(sig) }

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// endSelf ends this process at once, whatever it is at.
func endSelf(int) { _ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL) }
