package leaktest

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// roomForGarbage is how much memory a bench and the tests beside it may fill before the garbage collector runs all the same.
const roomForGarbage = 512 << 20

// collector is the garbage collector as it was set before the first of the benches in this process.
var collector struct {
	sync.Mutex
	benches int
	percent int
	limit   int64
}

// holdCollector keeps the garbage collector from running while a test plays. A client that drops a server
// without ending it leaves pipes that nobody can reach, and the collector closes those: the server exits, and a leak looks like a
// zombie or like nothing at all. In a program of its own that may take two minutes. The garbage of the tests must not hasten it.
func holdCollector() (release func()) {
	collector.Lock()
	defer collector.Unlock()
	if collector.benches++; collector.benches == 1 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		collector.limit = debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(min(collector.limit, int64(m.Sys-m.HeapReleased)+roomForGarbage))
		collector.percent = debug.SetGCPercent(-1)
	}
	return sync.OnceFunc(func() {
		collector.Lock()
		defer collector.Unlock()
		if collector.benches--; collector.benches == 0 {
			debug.SetGCPercent(collector.percent)
			debug.SetMemoryLimit(collector.limit)
		}
	})
}
