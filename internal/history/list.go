package history

import "github.com/leakbench/leakbench/internal/record"

// CountLists is how many requests of a list the servers of a session have received.
func (h *History) CountLists(session string, method record.Method) int {
	n := 0
	for _, s := range h.servers {
		for _, m := range s.Lists {
			if m == method && s.Session == session {
				n++
			}
		}
	}
	return n
}
