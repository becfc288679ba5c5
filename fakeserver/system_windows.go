package fakeserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

func certificate(o options) birth.Certificate {
	return birth.Certificate{Run: o.run, Label: o.label, Session: o.session, PID: os.Getpid(), PPID: os.Getppid()}
}

// The errors of Windows that package syscall has no name for.
const (
	errSharing  = syscall.Errno(32)  // ERROR_SHARING_VIOLATION
	errNoReader = syscall.Errno(232) // ERROR_NO_DATA: the pipe is being closed
	errAddress  = syscall.Errno(10048)
)

// placed is where a child goes. Windows has no sessions to leave; a process group is for CTRL_BREAK alone, which nobody sends here.
func placed(where placement) *syscall.SysProcAttr {
	if where == sameGroup {
		return nil
	}
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// become can't replace this process: it starts the other and waits for it.
func become(argv []string) int { return runBelow(argv, sameGroup) }

// underShell starts the server by cmd.exe /c, which waits for it: whoever ends the launched process has ended cmd.exe, and not the
// server. The quotes around the whole line are for cmd.exe, which strips them (/s).
func underShell(argv []string) int {
	path, err := pathOf(argv[0])
	if err != nil {
		return cannotLaunch(err)
	}
	words := []string{syscall.EscapeArg(path)}
	for _, arg := range argv[1:] {
		words = append(words, syscall.EscapeArg(arg))
	}
	shell, err := commandShell()
	if err != nil {
		return cannotLaunch(err)
	}
	p, err := os.StartProcess(shell, []string{shell}, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{CmdLine: syscall.EscapeArg(shell) + ` /d /s /c "` + strings.Join(words, " ") + `"`},
	})
	if err != nil {
		return cannotLaunch(err)
	}
	return statusOf(p)
}

var systemDirectory = syscall.NewLazyDLL("kernel32.dll").NewProc("GetSystemDirectoryW")

// commandShell is the path of cmd.exe. Hosts give their servers few variables, and ComSpec is none of them.
func commandShell() (string, error) {
	dir := make([]uint16, syscall.MAX_PATH)
	n, _, err := systemDirectory.Call(uintptr(unsafe.Pointer(&dir[0])), uintptr(len(dir)))
	if n == 0 || n >= uintptr(len(dir)) {
		return "", os.NewSyscallError("GetSystemDirectory", err)
	}
	return syscall.UTF16ToString(dir[:n]) + `\cmd.exe`, nil
}

// duplex is two pipes, as one file can't be read and written at the same time: the second call would wait for the first one.
type duplex struct{ r, w *os.File }

func (d duplex) Read(p []byte) (int, error)  { return d.r.Read(p) }
func (d duplex) Write(p []byte) (int, error) { return d.w.Write(p) }

// connected is two pairs of pipe ends, each other's peers.
func connected() (theirIn, theirOut *os.File, ours duplex, err error) {
	if theirIn, ours.w, err = os.Pipe(); err == nil {
		ours.r, theirOut, err = os.Pipe()
	}
	return theirIn, theirOut, ours, err
}

// openFile opens or makes a file that others may share as the mode says.
func openFile(path string, share, mode uint32) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, share, nil, mode, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// holdFile makes the file and lets nobody else write to it, for as long as what it returns is open and this process lives: children
// do not inherit it.
func holdFile(path string) (*os.File, error) {
	f, err := openFile(path, syscall.FILE_SHARE_READ, syscall.OPEN_ALWAYS)
	if errors.Is(err, errSharing) {
		return nil, errTaken
	}
	return f, err
}

// isHeld says that a living process has the file.
func isHeld(path string) bool {
	f, err := openFile(path, syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE, syscall.OPEN_EXISTING)
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, errSharing)
}

// noteWait is how long a launch waits for another one to write down the port.
const noteWait = 10 * time.Second

// holdPort listens on the port whose number is in the file; the first one lets the system choose it and writes it there.
func holdPort(path string) (*os.File, error) {
	note, err := holdFile(path)
	for deadline := time.Now().Add(noteWait); errors.Is(err, errTaken) && time.Now().Before(deadline); note, err = holdFile(path) {
		time.Sleep(time.Millisecond) // sleep-ok: a file tells nobody that it was closed
	}
	if err != nil {
		return nil, fmt.Errorf("failed to lock %s: %w", path, err)
	}
	defer note.Close()
	text := make([]byte, 8)
	n, _ := note.Read(text)
	port, _ := strconv.Atoi(string(bytes.TrimSpace(text[:n])))
	socket, chosen, err := listen(port)
	if err == nil && port == 0 {
		_, err = fmt.Fprintln(note, chosen)
	}
	return socket, err
}

// exclusive is SO_EXCLUSIVEADDRUSE: without it anybody may listen on a port that somebody listens on.
const exclusive = ^syscall.SO_REUSEADDR

// listen does without package net; see birth.connect.
func listen(port int) (*os.File, int, error) {
	var data syscall.WSAData
	if err := syscall.WSAStartup(0x202, &data); err != nil {
		return nil, 0, os.NewSyscallError("WSAStartup", err)
	}
	h, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, syscall.IPPROTO_TCP)
	if err != nil {
		return nil, 0, os.NewSyscallError("socket", err)
	}
	_ = syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, 0)
	_ = syscall.SetsockoptInt(h, syscall.SOL_SOCKET, exclusive, 1)
	err = syscall.Bind(h, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = syscall.Listen(h, 1)
	}
	if err != nil {
		_ = syscall.Closesocket(h)
		if errors.Is(err, errAddress) || errors.Is(err, syscall.WSAEACCES) {
			return nil, 0, errTaken
		}
		return nil, 0, os.NewSyscallError("listen", err)
	}
	if name, err := syscall.Getsockname(h); err == nil {
		if in, ok := name.(*syscall.SockaddrInet4); ok {
			port = in.Port
		}
	}
	return os.NewFile(uintptr(h), "port"), port, nil
}

// inUse asks as many do: whether a process of this pid can be opened. One that has ended can, as long as somebody has a handle of it.
func inUse(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}

// endProcess ends a process: there are no signals that ask one to.
func endProcess(p *os.Process, _ syscall.Signal) { _ = p.Kill() }

// endSelf ends this process at once. Its status is not the one that a process has which somebody else has ended.
func endSelf(status int) {
	if self, err := syscall.GetCurrentProcess(); err == nil {
		_ = syscall.TerminateProcess(self, uint32(status))
	}
}

// isBrokenPipe says that nobody reads any more.
func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, errNoReader)
}

// created is when a process was created, in 100 ns.
func created(pid int) (int64, error) {
	const queryLimited = 0x1000 // PROCESS_QUERY_LIMITED_INFORMATION
	h, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return 0, os.NewSyscallError("OpenProcess", err)
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	var birth, exit, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(h, &birth, &exit, &kernel, &user); err != nil {
		return 0, os.NewSyscallError("GetProcessTimes", err)
	}
	return birth.Nanoseconds() / 100, nil
}

// createdByBoot is when a process was created, in seconds since 1970.
func createdByBoot(pid int) (float64, error) {
	units, err := created(pid)
	return float64(units) / 1e7, err
}

// createdByUptime is the same by the clock of GetTickCount64, which takes 64 steps a second: the first step after it.
func createdByUptime(pid int) float64 {
	units, _ := created(pid)
	return float64(units*64/1e7+1) / 64
}

var peekPipe = syscall.NewLazyDLL("kernel32.dll").NewProc("PeekNamedPipe")

// stdinState says whether anybody can still write to stdin: "open", "closed", or "" if that can't be seen.
func stdinState() string {
	var waiting uint32
	ok, _, err := peekPipe.Call(uintptr(syscall.Stdin), 0, 0, 0, uintptr(unsafe.Pointer(&waiting)), 0)
	switch {
	case ok != 0:
		return "open"
	case errors.Is(err, syscall.ERROR_BROKEN_PIPE):
		return "closed"
	}
	return ""
}
