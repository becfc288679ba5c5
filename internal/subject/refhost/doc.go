// Package refhost holds the reference hosts: small gateways on the mcp-go
// client that own their servers in the ways seen in the field. Each is two
// choices, and hosts.go is the table of them: how the host learns the pids of
// its servers (learn*.go), and what it does with them (dispose_*.go).
// Everything else, sessions, retries, jobs, reload and shutdown, is the same
// for all (host.go), so that a difference on the bench comes from the choice.
//
// A host is a process of its own that speaks the driver protocol on stdio. It
// knows nothing of the bench.
package refhost
