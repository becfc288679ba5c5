package proc_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// TestAddDescendants: a child may come before its parent, and a parent may have no row; pids that go round in a circle have an end.
func TestAddDescendants(t *testing.T) {
	t.Parallel()
	var rows []record.Process
	for _, p := range [][2]int{{13, 12}, {12, 11}, {11, 10}, {20, 1}, {21, 20}, {31, 30}, {41, 42}, {42, 41}} {
		rows = append(rows, record.Process{Identity: record.Identity{PID: p[0]}, PPID: p[1]})
	}
	for _, c := range []struct{ pids, all []int }{
		{nil, nil},
		{[]int{11}, []int{11, 12, 13}},
		{[]int{30, 21}, []int{30, 31, 21}},
		{[]int{41}, []int{41, 42}},
	} {
		set := func(pids []int) map[int]bool {
			in := map[int]bool{}
			for _, pid := range pids {
				in[pid] = true
			}
			return in
		}
		got := set(c.pids)
		proc.AddDescendants(got, slices.Values(rows))
		assert.Equal(t, set(c.all), got, "below %v", c.pids)
	}
}
