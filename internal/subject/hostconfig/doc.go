// Package hostconfig holds the ways to name MCP servers to a host: the shapes of
// configuration files, written for the bench's servers and read from a user's.
package hostconfig
