// Package socket asks the kernel who has connected to a socket of a run: a server, a keeper, or somebody else.
package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// PID is the process that connected; 0 where the system does not tell.
func PID(c *net.UnixConn) (int, error) { return ask(c, pidOf) }

// User is the user whose process connected.
func User(c *net.UnixConn) (int, error) { return ask(c, userOf) }

// Refuse says why a peer may not take part in a run: it belongs to another user. root may do anything, and takes part
// where a host starts its servers as root. What the system does not tell is no reason.
func Refuse(c *net.UnixConn) error {
	uid, err := User(c)
	if err == nil && uid != os.Getuid() && uid != 0 {
		return fmt.Errorf("it belongs to user %d, and this run to user %d", uid, os.Getuid())
	}
	return nil
}

func ask(c *net.UnixConn, what func(fd int) (int, error)) (n int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Control(func(fd uintptr) { n, err = what(int(fd)) })
	return n, errors.Join(failed, err)
}
