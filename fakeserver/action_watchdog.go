package fakeserver

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

// watchEvery is how often a watchdog looks where the fault does not say.
const watchEvery = 100 * time.Millisecond

// watchdogAction looks after the server's parent, in one of the ways of the field
// that are wrong, and ends the server, in the orderly way, when it holds the
// parent for gone. It shows where the end of stdin does not end the server
// first (on eof: ignore).
var watchdogAction = action{
	name: "watchdog", text: "looks after its parent now and then (for), and exits when it holds it for gone",
	on:    []string{onStart},
	takes: []string{"for"},
	slot:  slotWatchdog,
	as: []Doc{
		{Name: "ppid", Text: "gone is when the parent is pid 1: wrong below a subreaper, which takes orphans in instead"},
		{Name: "pid", Text: "gone is when nobody has the parent's pid: wrong when it is a zombie, or the pid is another process's by now"},
		{Name: "created", Text: "gone is when the parent's creation time is not what it was, computed in two ways that never give the same: it exits though nothing happened"},
	},
	commit: func(s *server, f Fault, _ *request) bool {
		gone, err := watchdogs[f.variant()](os.Getppid())
		if err != nil {
			s.cannot(f, err)
			return false
		}
		go s.watch(cmp.Or(time.Duration(f.For), watchEvery), gone)
		return false
	},
}

// watchdogs make a question out of a parent's pid: why it is held for gone, ""
// for as long as it is not.
var watchdogs = map[string]func(parent int) (func() string, error){
	"ppid": func(int) (func() string, error) {
		return func() string {
			if os.Getppid() == 1 {
				return "its parent is pid 1"
			}
			return ""
		}, nil
	},
	"pid": func(parent int) (func() string, error) {
		return func() string {
			if !inUse(parent) {
				return fmt.Sprintf("nobody has the pid %d", parent)
			}
			return ""
		}, nil
	},
	"created": func(parent int) (func() string, error) {
		noted, err := createdByBoot(parent)
		return func() string {
			if now := createdByUptime(parent); now != noted {
				return fmt.Sprintf("its parent was created at %f, not at %f", now, noted)
			}
			return ""
		}, err
	},
}

func (s *server) watch(every time.Duration, gone func() string) {
	for range time.Tick(every) {
		if why := gone(); why != "" {
			s.bench.fault(birth.Fault{On: "watchdog", Do: "exit", Detail: why, Breaks: true})
			s.end("watchdog: " + why)
		}
	}
}
