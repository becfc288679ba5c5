package birth

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

// PipeName is the name of the pipe that stands for the socket at a path. A name may hold everything but backslashes.
func PipeName(path string) string {
	return `\\.\pipe\` + strings.NewReplacer(`\`, "-", "/", "-", ":", "-").Replace(path)
}

// OpenPipe connects to the pipe that stands for the socket at a path. As an overlapped handle it waits in the runtime's poller,
// as a net.Conn does, and has deadlines.
func OpenPipe(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(PipeName(path))
	if err != nil {
		return nil, err
	}
	const access = syscall.GENERIC_READ | syscall.GENERIC_WRITE
	h, err := syscall.CreateFile(name, access, 0, nil, syscall.OPEN_EXISTING, syscall.FILE_FLAG_OVERLAPPED, 0)
	if err != nil {
		return nil, &os.PathError{Op: "connect", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

func connect(path string) (stream, error) {
	f, err := OpenPipe(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// errPipeBusy is ERROR_PIPE_BUSY: all instances of the pipe have a client, and the next one is being made.
const errPipeBusy = syscall.Errno(231)

func isBacklogFull(err error) bool { return errors.Is(err, errPipeBusy) }

var preciseTime = syscall.NewLazyDLL("kernel32.dll").NewProc("GetSystemTimePreciseAsFileTime")

// now is the time of a note. That of package time goes by steps of up to 15 ms here: the notes of two servers could not be put in
// order.
func now() int64 {
	var t syscall.Filetime
	_, _, _ = preciseTime.Call(uintptr(unsafe.Pointer(&t)))
	return t.Nanoseconds()
}
