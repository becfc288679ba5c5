// Package fakeserver is an MCP server over stdio that is correct until its
// script says otherwise. It takes its script and its launch number from the
// bench's ledger, announces there what it sees and each fault before it
// commits it, and ends at once when the bench is gone, whatever it ignores.
//
// A binary that imports this package is the server when its first argument is
// "fakeserver". The package must stay light: it imports the standard library,
// and package birth, and nothing else.
//
// A new action is a file action_NAME.go and a line in allActions.
package fakeserver
