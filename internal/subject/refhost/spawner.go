package refhost

import "runtime"

// spawner starts all processes of a host on one thread that lives as long as
// the host and is not its main thread. Both matter on Linux: PDEATHSIG fires
// when the thread that forked ends, not the process (prctl(2)), and the kernel
// lists a child under the thread that forked it (proc(5), children), which is
// how a host that asks its main thread never sees one. The hosts in the field
// launch from the background thread of their event loop.
type spawner struct {
	work chan func()
}

func newSpawner() *spawner {
	s := &spawner{work: make(chan func())}
	go s.run()
	return s
}

func (s *spawner) run() {
	runtime.LockOSThread() // and never unlocked
	if onMainThread() {
		go s.run()
		select {} // occupies the main thread, so that the other one gets another
	}
	for f := range s.work {
		f()
	}
}

// do runs start on the spawner's thread.
func (s *spawner) do(start func() error) error {
	done := make(chan error)
	s.work <- func() { done <- start() }
	return <-done
}
