package refhost

import "sync"

// child is a process of a host's pid ledger. The hosts in the field keep the bare pid. Here the start time goes with
// it: to model a mistake is no reason to signal somebody else's process on the machine of whoever runs the bench.
type child struct {
	pid   int
	start uint64
}

// snapshot is how a host learns which processes a launch brought about: it compares its children before and after.
type snapshot struct {
	// of are the host's children. Without it no ledger is kept, which is enough where the handle is used that the
	// launch returned, which the connection holds: the one thing that can't be wrong.
	of func() []child
	// serialised launches one server at a time. Without that, two that start together claim each other's processes.
	serialised bool
	mu         sync.Mutex
}

// learn runs start, which launches a server, and returns the processes that the host believes to be that server's.
func (s *snapshot) learn(start func() error) ([]child, error) {
	if s.of == nil {
		return nil, start()
	}
	if s.serialised {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	known := map[child]bool{}
	for _, c := range s.of() {
		known[c] = true
	}
	if err := start(); err != nil {
		return nil, err
	}
	var added []child
	for _, c := range s.of() {
		if !known[c] {
			added = append(added, c)
		}
	}
	return added, nil
}
