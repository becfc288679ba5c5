package proc

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/text"
)

// program is what a process runs. It is never changed once it is made, so rows may share its strings.
type program struct {
	comm  string // escaped
	raw   string // as the kernel has it
	args  []string
	image image
	sum   uint64 // of the command line, where the image can't be seen
	turn  uint64
}

var hashSeed = maphash.MakeSeed()

// program returns what the process runs, from memory where it still runs the same: its name and its image are those
// that were seen with the command line. execve changes them, and they are read before the command line is, so what is
// remembered can be newer than they are, never older. A process that overwrites its own argv (setproctitle) keeps the
// line it was first seen with unless it changes its name too.
func (t *Table) program(s *stat) *program {
	id := s.identity()
	p := t.known[id]
	if p == nil || !p.runs(s, t.readers[0]) {
		p = t.readers[0].program(s)
		t.known[id] = p
	}
	p.turn = t.turn
	return p
}

func (p *program) runs(s *stat, r *reader) bool {
	if p.raw != string(s.name()) || p.image != s.image {
		return false
	}
	if s.ended() || s.image != (image{}) {
		return true
	}
	return p.sum == maphash.Bytes(hashSeed, r.cmdline(s.pid))
}

// forget drops the programs of processes that the last census did not see.
func (t *Table) forget() {
	if len(t.known) == len(t.rows) {
		return
	}
	for id, p := range t.known {
		if p.turn != t.turn {
			delete(t.known, id)
		}
	}
}

// program reads what a process runs. A zombie has a name and no arguments.
func (r *reader) program(s *stat) *program {
	p := &program{raw: string(s.name()), image: s.image}
	p.comm = text.Name(p.raw)
	if s.ended() {
		return p
	}
	line := r.cmdline(s.pid)
	if s.image == (image{}) {
		p.sum = maphash.Bytes(hashSeed, line)
	}
	if line = bytes.TrimSuffix(line, []byte{0}); len(line) > 0 {
		p.args = redact.Args(strings.Split(string(line), "\x00"))
	}
	return p
}

func (r *reader) cmdline(pid int) []byte {
	line, err := r.whole(pid, "cmdline")
	if err != nil {
		return nil
	}
	return line
}
