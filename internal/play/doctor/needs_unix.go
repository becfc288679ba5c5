//go:build unix

package doctor

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// What a run takes at the least.
const (
	// leastFiles is a connection to each server, and the pipes of the host and its witnesses.
	leastFiles = 64
	// leastSpace is what a Go program with threads takes of addresses, in bytes, and there are several.
	leastSpace = 3 << 30
	// leastData is what one takes of memory that it can write to, in bytes, with what it needs to say so.
	leastData = 256 << 20
	// leastFileSize is what a small run file, a host's log and a report take, in bytes.
	leastFileSize = 4 << 20
)

// leastProcesses is how many processes and threads a run takes: bench, keeper, host and some servers, each with a
// thread for each processor that has something to do, and some more.
func leastProcesses() uint64 { return 64 + 8*uint64(min(16, runtime.NumCPU())) }

// NoRoom says that this process can't open a file, or nil. With the first one Go's runtime opens two more, and ends a program that can't
// have them (netpollinit in runtime/netpoll_epoll.go).
func NoRoom() *Lack {
	for range 3 {
		fd, err := unix.Open("/", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EMFILE) {
			lacks := append(limits(), Lack{needFiles, "this process has as many open files as it may have", "ulimit -n 1024"})
			return &lacks[0]
		}
		if err == nil {
			defer func() { _ = unix.Close(fd) }()
		}
	}
	return nil
}

// limits are the limits of this process that are too low to play anything.
func limits() []Lack {
	var all []Lack
	for _, l := range []struct {
		name, what string
		resource   int
		least      uint64
		shift      int
		unit, do   string
	}{
		{needFiles, "have %d open files", unix.RLIMIT_NOFILE, leastFiles, 0, "", "ulimit -n 1024"},
		{"address-space", "have %d MiB of address space", unix.RLIMIT_AS, leastSpace, 20, " MiB", "ulimit -v unlimited"},
		{"data", "have %d MiB of data", unix.RLIMIT_DATA, leastData, 20, " MiB", "ulimit -d unlimited"},
		{"file-size", "write files of %d KiB", unix.RLIMIT_FSIZE, leastFileSize, 10, " KiB", "ulimit -f unlimited"},
	} {
		var limit unix.Rlimit
		if unix.Getrlimit(l.resource, &limit) != nil {
			continue
		}
		if most := uint64(limit.Cur); most < l.least { //nolint:unconvert // on FreeBSD it has a sign
			may := fmt.Sprintf(l.what, most>>l.shift)
			all = append(all, Lack{l.name, fmt.Sprintf("this process may %s, and a run needs %d%s", may, l.least>>l.shift, l.unit), l.do})
		}
	}
	if lack := fewProcessesLeft(leastProcesses()); lack != nil {
		all = append(all, *lack)
	}
	return all
}
