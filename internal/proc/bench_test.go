//go:build linux

package proc_test

import (
	"os/exec"
	"testing"

	"github.com/shirou/gopsutil/v3/process"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// BenchmarkCensus1000 reads a table with 1000 descendants, side by side with
// gopsutil and ps, and then looks through them for who holds one's stdin.
//
//	go test -run '^$' -bench Census1000 ./internal/proc
func BenchmarkCensus1000(b *testing.B) {
	const count = 1000
	root, _ := forest(b, "sleep=1000")
	settled(b, root.id.PID, count)
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		table := proc.NewTable()
		_, _ = table.Below(root.id.PID)
		for b.Loop() {
			rows, err := table.Below(root.id.PID)
			if err != nil || len(rows) != count {
				b.Fatal(len(rows), err)
			}
		}
	})
	b.Run("own-cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rows, err := proc.NewTable().Below(root.id.PID)
			if err != nil || len(rows) != count {
				b.Fatal(len(rows), err)
			}
		}
	})
	b.Run("gopsutil", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n := gopsutilCensus(b); n < count {
				b.Fatal(n)
			}
		}
	})
	b.Run("ps", func(b *testing.B) {
		for b.Loop() {
			out, err := exec.CommandContext(b.Context(), "ps", "-eo", "pid,ppid,etime,rss,command").Output()
			if err != nil || len(out) < count*10 {
				b.Fatal(len(out), err)
			}
		}
	})
	b.Run("examine-1", func(b *testing.B) {
		for b.Loop() {
			if e := proc.Examine([]record.Identity{root.id}); len(e[0].Descriptors[0].Holders) != 1 {
				b.Fatal(e)
			}
		}
	})
	b.Run("examine-1000", func(b *testing.B) {
		rows, err := proc.NewTable().Below(root.id.PID)
		require.NoError(b, err)
		var ids []record.Identity
		for _, row := range rows {
			ids = append(ids, row.Identity)
		}
		for b.Loop() {
			proc.Examine(ids)
		}
	})
}

// gopsutilCensus asks for what a row holds.
func gopsutilCensus(b *testing.B) int {
	all, err := process.Processes()
	require.NoError(b, err)
	n := 0
	for _, p := range all {
		_, _ = p.Ppid()
		_, _ = p.CreateTime()
		_, _ = p.Status()
		_, _ = p.MemoryInfo()
		_, _ = p.NumFDs()
		_, _ = p.CmdlineSlice()
		n++
	}
	return n
}
