//go:build unix

package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// Conn is one connection.
type Conn = net.UnixConn

// Listener waits for connections.
type Listener struct{ *net.UnixListener }

// Listen makes the socket at path.
func Listen(path string) (*Listener, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	return &Listener{l}, nil
}

// Accept waits for the next connection. After Close the error is net.ErrClosed.
func (l *Listener) Accept() (*Conn, error) { return l.AcceptUnix() }

// Dial connects to the socket at path.
func Dial(path string) (*Conn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
}

// PID is the process that connected; 0 where the system does not tell.
func PID(c *Conn) (int, error) { return ask(c, pidOf) }

// User is the user whose process connected.
func User(c *Conn) (int, error) { return ask(c, userOf) }

// Refuse says why a peer may not take part in a run: it belongs to another user. root may do anything, and takes part
// where a host starts its servers as root. What the system does not tell is no reason.
func Refuse(c *Conn) error {
	uid, err := User(c)
	if err == nil && uid != os.Getuid() && uid != 0 {
		return fmt.Errorf("it belongs to user %d, and this run to user %d", uid, os.Getuid())
	}
	return nil
}

func ask(c *Conn, what func(fd int) (int, error)) (n int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) { n, err = what(int(fd)) })
	return n, errors.Join(failed, err)
}
