package fakeserver

import (
	"cmp"
	"encoding/json"
	"time"
)

// progressPause is the pause between two notifications where the script gives
// none.
const progressPause = 100 * time.Millisecond

var progressAction = action{
	name: "progress", text: "never answers, and sends progress notifications for ever (each), also after a cancel",
	on:      []string{onDiscover, onInitialize, onList, onCall},
	takes:   []string{"each"},
	decides: true,
	breaks:  always,
	slow:    true,
	commit: func(s *server, f Fault, r *request) bool {
		s.report(r.progressToken(), cmp.Or(time.Duration(f.Each), progressPause))
		return true
	},
}

// progressToken is the one that the host chose, or, from a server that does
// not care whether it was given one, the id of the request.
func (r *request) progressToken() json.RawMessage {
	if token := r.params.Meta["progressToken"]; len(token) > 0 {
		return token
	}
	return r.ID
}

// report sends progress until the server ends or nobody can read it.
func (s *server) report(token json.RawMessage, pause time.Duration) {
	t := time.NewTicker(pause)
	defer t.Stop()
	for n := 1; s.out.open(); n++ {
		s.say(notification("notifications/progress", map[string]any{"progressToken": token, "progress": n}))
		select {
		case <-t.C:
		case <-s.stopping:
			return
		}
	}
}
