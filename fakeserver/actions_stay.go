package fakeserver

import (
	"cmp"
	"os/signal"
	"runtime"
	"time"
)

// stayActions keep the server running, or growing.
var stayActions = []action{
	{
		name: "linger-timer", text: "stays alive for a timer: its first thread sleeps (nanosleep)",
		on:      []string{onEOF},
		decides: true, passive: atEnd,
		commit: func(*server, Fault, *request) {
			for {
				nap()
			}
		},
	},
	{
		name: "linger-socket", text: "stays alive for a listening socket: its first thread waits for a connection (epoll)",
		on:      []string{onEOF},
		decides: true, passive: atEnd,
		commit: func(*server, Fault, *request) {
			awaitConnection()
			park() // there is no socket to be had, which keeps nobody from staying
		},
	},
	{
		name: "linger-thread", text: "stays alive for another thread: its first thread waits for that one (futex)",
		on:      []string{onEOF},
		decides: true, passive: atEnd,
		commit: func(*server, Fault, *request) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				runtime.LockOSThread() // a thread that belongs to nobody else
				for {
					nap()
				}
			}()
			<-done
		},
	},
	{
		name: "ignore-term", text: "ignores SIGTERM, SIGINT and SIGHUP from then on (SIG_IGN)",
		on:       []string{onStart, onEOF, onOrder},
		silences: onTerm,
		commit: func(*server, Fault, *request) {
			for sig := range asking {
				signal.Ignore(sig)
			}
		},
	},
	{
		name: "swell", text: "grows by step MiB (1) up to mib; on call: with each call; else: by itself, each second or as each says",
		on:    []string{onStart, onCall, onOrder},
		needs: "mib", takes: []string{"step", "each"}, slow: true,
		except: exception{field: "each", on: onCall, why: "where it grows with each call"},
		commit: func(s *server, f Fault, _ *request) {
			step := max(f.Step, 1)
			if f.On == onCall {
				s.ballast.swell(step, f.MiB)
			} else {
				go s.swell(step, f.MiB, cmp.Or(time.Duration(f.Each), swellPause))
			}
		},
	},
}

// swellPause is the pause between two steps where the script gives none.
const swellPause = time.Second

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
