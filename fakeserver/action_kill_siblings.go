package fakeserver

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// killSiblingsAction ends the other servers of the label, which it knows by their
// pid files, as servers do that want to be the only one. Each server of a
// script with this fault has such a file.
var killSiblingsAction = action{
	name: "kill-siblings", text: "kills the other servers of its label, by their pid files",
	on:   []string{onStart},
	slot: "kill-siblings",
	as: []Doc{
		{Name: "term", Text: "with SIGTERM"},
		{Name: "kill", Text: "with SIGKILL"},
	},
	targets: func(s *server) []int { return s.options.siblings() },
	commit: func(_ *server, f Fault, _ *request) bool {
		sig := syscall.SIGTERM
		if f.variant() == "kill" {
			sig = syscall.SIGKILL
		}
		for _, pid := range f.targets {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Signal(sig)
				_ = p.Release()
			}
		}
		return false
	},
}

// enlist writes the pid file. Its lock tells a sibling that the file's process
// lives: a bare number could be anybody's by now.
func (s *server) enlist(script Script) {
	for _, f := range script.Faults {
		if f.Do == "kill-siblings" {
			held, err := holdFile(s.options.place("pid") + "." + strconv.Itoa(os.Getpid()))
			if err != nil {
				s.cannot(f, err)
			}
			s.held = append(s.held, held)
			return
		}
	}
}

// siblings are the pids of the other servers that live.
func (o options) siblings() []int {
	files, _ := filepath.Glob(o.place("pid") + ".*")
	var all []int
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Ext(file)[1:])
		if err == nil && pid != os.Getpid() && isHeld(file) {
			all = append(all, pid)
		}
	}
	return all
}
