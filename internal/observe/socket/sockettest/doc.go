// Package sockettest connects to sockets as another user, and has sockets for that. It is for tests, on Linux.
package sockettest
