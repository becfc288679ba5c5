package refhost

import "sync"

// learner is how a host learns which processes a launch brought about.
type learner interface {
	// learn runs start, which launches a server, and returns the processes
	// that the host believes to be that server's.
	learn(start func() error) ([]child, error)
}

// child is a process of a host's pid ledger. The hosts in the field keep the
// bare pid. Here the start time goes with it: to model a mistake is no reason
// to signal somebody else's process on the machine of whoever runs the bench.
type child struct {
	pid   int
	start uint64
}

// nothing keeps no ledger. It is enough where the handle is used that the launch
// returned, which the connection holds: the one thing that can't be wrong.
type nothing struct{}

func (nothing) learn(start func() error) ([]child, error) { return nil, start() }

// snapshot compares the host's children before and after the launch.
type snapshot struct {
	of func() []child
	// serialised launches one server at a time. Without that, two that start
	// together claim each other's processes.
	serialised bool
	mu         sync.Mutex
}

func (s *snapshot) learn(start func() error) ([]child, error) {
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
