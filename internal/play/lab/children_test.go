package lab

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/kit"
	"github.com/leakbench/leakbench/internal/record"
)

// TestOriginOf: a line is named as that of a process only if nothing else can have launched it.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	process := func(pid, ppid, group, session int) record.Evidence {
		return record.Evidence{Process: record.Process{Identity: record.Identity{PID: pid}, PPID: ppid, PGID: group, SID: session}}
	}
	launched := []kit.Launch{{PID: 5, At: "a.py:1"}, {PID: 5, At: "a.py:2"}, {PID: 6, At: "b.py:3"}}
	for _, c := range []struct {
		name     string
		of       record.Evidence
		beside   []record.Evidence
		launched []kit.Launch
		want     string
	}{
		{name: "the last one that had the pid", of: process(5, 1, 9, 9), launched: launched, want: "it was launched at a.py:2"},
		{
			name: "a child of a child", of: process(8, 7, 9, 9), beside: []record.Evidence{process(7, 6, 9, 9)}, launched: launched,
			want: "it comes from pid 6, which was launched at b.py:3",
		},
		{name: "a group of its own", of: process(8, 1, 6, 9), launched: launched, want: "it comes from pid 6, which was launched at b.py:3"},
		{name: "a session of its own", of: process(8, 1, 9, 6), launched: launched, want: "it comes from pid 6, which was launched at b.py:3"},
		{
			name: "an orphan", of: process(8, 1, 9, 9), launched: launched,
			want: "it comes from a process that has ended; the test has launched some at a.py:1, a.py:2, b.py:3",
		},
		{
			name: "an orphan of many", of: process(8, 1, 9, 9), launched: append(launched, kit.Launch{PID: 7, At: "c.py:4"}),
		},
		{name: "a child that a library has not seen", of: process(8, 4, 9, 9), launched: launched},
		{name: "a circle", of: process(8, 7, 9, 9), beside: []record.Evidence{process(7, 8, 9, 9)}},
		{name: "a library that does not say it", of: process(8, 1, 9, 9)},
	} {
		left := append([]record.Evidence{c.of}, c.beside...)
		assert.Equal(t, c.want, originOf(c.of, left, c.launched, 4), c.name)
	}
}
