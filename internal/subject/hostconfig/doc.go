// Package hostconfig is how hosts are told of MCP servers: the shapes of their
// configuration files, written for the bench's servers and read from a user's.
package hostconfig
