//go:build !unix

package birth

import "net"

func connect(path string) (stream, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
}

// isBacklogFull: on Windows connect waits by itself.
func isBacklogFull(error) bool { return false }
