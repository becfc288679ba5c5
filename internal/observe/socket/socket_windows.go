package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

const (
	// Attested says how a peer's pid is learned.
	Attested = "GetNamedPipeClientProcessId"
	// MaxSocketPath is how many bytes of a path go into the name of a pipe, which may have 256 characters with its prefix
	// (CreateNamedPipe).
	MaxSocketPath = 240
	// bufferSize is what a pipe holds in each direction, in bytes. What a process has written is read even if it ends at once.
	bufferSize = 64 << 10
)

// Conn is one connection: one end of a named pipe.
type Conn struct{ *os.File }

// Listener waits for connections. It always has an instance of the pipe to which nobody is connected, so that a client finds one.
type Listener struct {
	name   *uint16
	rights *windows.SecurityAttributes
	closed windows.Handle // an event

	accepting sync.Mutex
	once      sync.Once
	mu        sync.Mutex
	next      windows.Handle // the instance without a client; 0: none could be made
	over      bool
}

// Listen makes the pipe for path. Nobody but this user and the system may connect to it.
func Listen(path string) (*Listener, error) {
	name, err := windows.UTF16PtrFromString(birth.PipeName(path))
	if err != nil {
		return nil, err
	}
	rights, err := ownRights()
	if err != nil {
		return nil, fmt.Errorf("failed to protect the pipe: %w", err)
	}
	closed, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return nil, err
	}
	l := &Listener{name: name, rights: rights, closed: closed}
	// Where somebody else has made a pipe of this name, that is an error: he would hear what is meant for this one. (Wine ignores the flag.)
	if l.next, err = l.instance(windows.FILE_FLAG_FIRST_PIPE_INSTANCE); err != nil {
		_ = windows.CloseHandle(closed)
		return nil, &net.OpError{Op: "listen", Net: "pipe", Err: os.NewSyscallError("CreateNamedPipe", err)}
	}
	return l, nil
}

// ownRights are full rights for the system, the administrators and this user, and none for others.
func ownRights() (*windows.SecurityAttributes, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	sd, err := windows.SecurityDescriptorFromString("D:P(A;;GA;;;SY)(A;;GA;;;BA)(A;;GA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return nil, err
	}
	return &windows.SecurityAttributes{Length: uint32(unsafe.Sizeof(windows.SecurityAttributes{})), SecurityDescriptor: sd}, nil
}

func (l *Listener) instance(flags uint32) (windows.Handle, error) {
	return windows.CreateNamedPipe(l.name, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|flags,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, windows.PIPE_UNLIMITED_INSTANCES, bufferSize, bufferSize, 0, l.rights)
}

// Accept waits for the next connection. After Close the error is net.ErrClosed.
func (l *Listener) Accept() (*Conn, error) {
	l.accepting.Lock()
	defer l.accepting.Unlock()
	for {
		h, err := l.take()
		if err != nil {
			return nil, err
		}
		err = l.connect(h)
		if err == nil {
			l.refill()
			return newConn(h), nil
		}
		_ = windows.CloseHandle(h)
		if !errors.Is(err, windows.ERROR_NO_DATA) { // a client that has come and gone
			return nil, err
		}
		l.refill()
	}
}

// take has the instance that the next client gets.
func (l *Listener) take() (windows.Handle, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return 0, net.ErrClosed
	}
	h := l.next
	l.next = 0
	if h != 0 {
		return h, nil
	}
	h, err := l.instance(0)
	return h, os.NewSyscallError("CreateNamedPipe", err)
}

// refill makes the instance for the client after this one. Where that fails, take tries again and says why.
func (l *Listener) refill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == 0 && !l.over {
		l.next, _ = l.instance(0)
		if l.next == windows.InvalidHandle {
			l.next = 0
		}
	}
}

// connect waits for a client, or for Close.
func (l *Listener) connect(h windows.Handle) error {
	arrived, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(arrived) }()
	// The lowest bit of the event keeps the completion from a port (GetQueuedCompletionStatus); there is none yet.
	ov := &windows.Overlapped{HEvent: arrived}
	switch err = windows.ConnectNamedPipe(h, ov); {
	case err == nil || errors.Is(err, windows.ERROR_PIPE_CONNECTED):
		return nil
	case !errors.Is(err, windows.ERROR_IO_PENDING):
		return err
	}
	which, err := windows.WaitForMultipleObjects([]windows.Handle{arrived, l.closed}, false, windows.INFINITE)
	if err != nil || which != windows.WAIT_OBJECT_0 {
		_ = windows.CancelIoEx(h, ov)
	}
	var n uint32
	if done := windows.GetOverlappedResult(h, ov, &n, true); done == nil {
		return nil
	} else if err == nil && which == windows.WAIT_OBJECT_0 {
		return done
	}
	return errors.Join(net.ErrClosed, err)
}

// Close ends the waiting. The connections that were accepted stay.
func (l *Listener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		l.mu.Lock()
		l.over = true
		_ = windows.SetEvent(l.closed)
		if l.next != 0 {
			_ = windows.CloseHandle(l.next)
			l.next = 0
		}
		l.mu.Unlock()
		l.accepting.Lock() // until nobody waits for the event any more
		defer l.accepting.Unlock()
		err = windows.CloseHandle(l.closed)
	})
	return err
}

// Dial connects to the pipe for path.
func Dial(path string) (*Conn, error) {
	f, err := birth.OpenPipe(path)
	if err != nil {
		return nil, err
	}
	return &Conn{f}, nil
}

func newConn(h windows.Handle) *Conn { return &Conn{os.NewFile(uintptr(h), "pipe")} }

// PID is the process that connected.
func PID(c *Conn) (int, error) {
	var pid uint32
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(h uintptr) { err = windows.GetNamedPipeClientProcessId(windows.Handle(h), &pid) })
	return int(pid), errors.Join(failed, err)
}

// User is not asked here: see Refuse.
func User(*Conn) (int, error) { return 0, errors.ErrUnsupported }

// Refuse has nothing to say: the pipe lets nobody else connect.
func Refuse(*Conn) error { return nil }
