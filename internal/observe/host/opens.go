package host

import "sync"

// opens are the opens of each session that are under way beside each other, and beside a close. What comes of a session is decided and
// written down by one of them at a time. The zero value has none.
type opens struct {
	mu    sync.Mutex
	now   map[string]int // under way
	begun map[string]int // the change of sessions with which the latest began
}

// begin counts one more, which began with the change that write makes.
func (o *opens) begin(name string, write func() (change int)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now == nil {
		o.now, o.begun = map[string]int{}, map[string]int{}
	}
	o.now[name]++
	o.begun[name] = write()
}

// end counts one less, and has its outcome written, with how many others are under way.
func (o *opens) end(name string, write func(beside int)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now[name]--
	write(o.now[name])
}

// unlessSince has the end of a session written that was asked to end with a change, unless it was opened since: that open says what
// becomes of it.
func (o *opens) unlessSince(name string, change int, write func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.begun[name] <= change {
		write()
	}
}
