package proc

import (
	"bytes"
	"os"
	"strconv"

	"github.com/leakbench/leakbench/internal/record"
)

// maxAncestors bounds how far Newborn climbs.
const maxAncestors = 32

// Newborn is the process that was given a pid last, where it lives and is below
// root. It costs some 20 us, a fraction of a census: what forks and exits all
// the time can be met by it. The number stands in /proc/loadavg (proc(5)).
func Newborn(root int) (record.Identity, bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return record.Identity{}, false
	}
	fields := bytes.Fields(text)
	pid, err := strconv.Atoi(string(fields[len(fields)-1]))
	if err != nil {
		return record.Identity{}, false
	}
	r := newReader()
	var newborn stat
	if r.stat(pid, &newborn) != nil || newborn.ended() {
		return record.Identity{}, false
	}
	ancestor := newborn
	for range maxAncestors {
		if ancestor.ppid == root {
			return newborn.identity(), true
		}
		if ancestor.ppid == 0 || r.stat(ancestor.ppid, &ancestor) != nil {
			break
		}
	}
	return record.Identity{}, false
}

// HasEnv says that a process was started with a variable, as "NAME=value", in
// its environment. It is false where that can't be read.
func HasEnv(id record.Identity, variable string) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(id.PID) + "/environ")
	if err != nil || Gone(id) {
		return false
	}
	return bytes.Contains(append([]byte{0}, text...), []byte("\x00"+variable+"\x00"))
}
