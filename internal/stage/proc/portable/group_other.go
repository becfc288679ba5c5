//go:build !unix

package portable

// groupAndSession: there are none.
func groupAndSession(int) (pgid, sid int) { return 0, 0 }
