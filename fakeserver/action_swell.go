package fakeserver

import (
	"cmp"
	"time"
)

// swellPause is the pause between two steps where the script gives none.
const swellPause = time.Second

var swellAction = action{
	name: "swell", text: "grows by step MiB (1) up to mib; on call: with each call; else: by itself, each second or as each says",
	on:     []string{onStart, onCall, onOrder},
	needs:  "mib",
	takes:  []string{"step", "each"},
	except: exception{field: "each", on: onCall, why: "where it grows with each call"},
	slow:   true,
	commit: func(s *server, f Fault, _ *request) bool {
		step := max(f.Step, 1)
		if f.On == onCall {
			s.ballast.swell(step, f.MiB)
			return false
		}
		go s.swell(step, f.MiB, cmp.Or(time.Duration(f.Each), swellPause))
		return false
	},
}

// swell grows step by step, asked or not.
func (s *server) swell(step, most int, pause time.Duration) {
	t := time.NewTicker(pause)
	defer t.Stop()
	for range t.C {
		if s.ballast.swell(step, most) >= most {
			return
		}
	}
}
