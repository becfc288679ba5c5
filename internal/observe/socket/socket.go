// Package socket is how the processes of a run reach the bench: over a unix socket, and on Windows over a named pipe. It asks the
// kernel who has connected: a server, a keeper, or somebody else.
package socket
