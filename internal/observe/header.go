package observe

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"os"
	"runtime"
	"time"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// newID is what a run is known by: it stands in the command line of each of its fake servers.
func newID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Header fills in what does not depend on what is played, or with whom: the format, the time, the machine, and an id where there is none.
func Header(h record.Header) record.Header {
	h.ID = cmp.Or(h.ID, newID())
	h.Format, h.Started = record.Format, time.Now().UTC() // the version is the writer's matter
	h.System = record.System{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: proc.Kernel(), CPUs: runtime.NumCPU(), UID: os.Getuid(),
	}
	return h
}
