//go:build unix

package files

import "syscall"

// nonblock has open(2) of a pipe return without its other end.
const nonblock = syscall.O_NONBLOCK
