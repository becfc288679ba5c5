// Package outside sees what ends processes of a run and is neither the host nor the bench.
package outside

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
)

// OOM counts what the kernel has killed for want of memory: of the whole machine, and of any cgroup with a limit.
// The zero value is ready to use, and takes what was counted at its first question for old.
type OOM struct {
	mu    sync.Mutex
	known bool
	last  int64
}

// Killed says that the kernel has killed for want of memory since it was last asked. It can't say whom.
func (o *OOM) Killed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, known := oomKills()
	more := known && o.known && now > o.last
	o.known, o.last = known, now
	return more
}

// oomKills is the counter oom_kill of /proc/vmstat (proc(5), Linux 4.13).
func oomKills() (n int64, known bool) {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if value, ok := strings.CutPrefix(string(line), "oom_kill "); ok {
			n, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
