// Package gosdk puts the official Go SDK
// (github.com/modelcontextprotocol/go-sdk) on the bench: a driver that uses
// its client the way its README and docs/client.md do, and adds nothing. What
// they leave open is decided as their reader most likely would, and is said
// where it is decided. Its tests are those of all hosts, in internal/subject/host.
package gosdk
