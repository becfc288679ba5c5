// Package sockettest connects to sockets as another user. It is for tests, on Linux.
package sockettest
