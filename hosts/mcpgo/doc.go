// Package mcpgo puts the published mcp-go client on the bench: a driver that
// uses it the way its documentation does (mcp-go.dev, "Client Basics" and
// "Client Transports", and examples/simple_client), and adds nothing. What
// the documentation leaves open is decided as its reader most likely would,
// and is said where it is decided. Its tests are those of all hosts, in
// internal/subject/host.
package mcpgo
