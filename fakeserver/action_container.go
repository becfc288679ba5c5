package fakeserver

import (
	"bufio"
	"io"
	"os"
)

// containerAction stands in for "docker run -i": the launched process is a proxy
// between its stdio and a socket, and the server at the other end is a daemon
// that is nobody's child. The proxy passes the end of stdin on; when the proxy
// is killed the server stays, as a container does whose client is gone.
var containerAction = action{
	name: "container", text: "is a daemon in a session of its own behind a socket (double fork); the launched process is its proxy, and killing that leaves it alone",
	on:     []string{onStart},
	slot:   slotLaunch,
	launch: func(_ Fault, argv []string) int { return proxy(append(argv, "--attached")) },
}

// endOfInput is the line by which a proxy passes the end of its stdin on: the
// end of the connection alone says that the proxy is gone.
const endOfInput = "\x04\n"

func proxy(argv []string) int {
	theirs, ours, err := connected()
	if err != nil {
		return cannotLaunch(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return cannotLaunch(err)
	}
	if err := startDetached(argv, [3]*os.File{theirs, theirs, null}); err != nil {
		return cannotLaunch(err)
	}
	_ = theirs.Close()
	go func() {
		_, _ = io.Copy(ours, os.Stdin)
		_, _ = io.WriteString(ours, endOfInput)
	}()
	_, _ = io.Copy(os.Stdout, ours) // ends with the server
	return 0
}

// attached reads from a proxy. Without the line that ends the input, the end of
// the connection is none of stdin.
type attached struct {
	from *bufio.Reader
	rest []byte // read and not handed on yet
	torn bool   // what was read last has no end of line
}

func (a *attached) Read(b []byte) (int, error) {
	if len(a.rest) == 0 {
		part, err := a.from.ReadSlice('\n')
		if !a.torn && string(part) == endOfInput {
			return 0, io.EOF
		}
		if len(part) == 0 && err != nil {
			select {}
		}
		a.rest, a.torn = part, err != nil
	}
	n := copy(b, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}
