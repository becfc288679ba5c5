// Package keeper starts a host and outlives it.
//
// The bench never starts a host itself: it re-executes itself as a keeper. The
// keeper is the child subreaper, so that whatever the host orphans comes home
// to it; it starts the host, takes the census of everything below it, reaps
// what comes home, and holds a socket to the bench. When that socket ends (the
// run is over, ^C, kill -9 of the bench) it kills everything below it: host,
// shells, wrappers, helpers and the parents of zombies. It knows nothing of
// MCP, of scenarios, or of guilt.
//
// The bench's side is Keeper, the process is Main.
package keeper
