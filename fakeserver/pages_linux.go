package fakeserver

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"syscall"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

// dropPages gives back the pages of the executable that starting up has mapped.
// They stay in the page cache and come back by themselves when they are
// needed. Most of what a big binary maps at its start is never used again,
// and counts as resident for each of the servers of a run, and is work for
// the kernel when a thousand of them die at once.
func dropPages() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, m := range cleanMappings(f) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.size, syscall.MADV_DONTNEED)
	}
}

// mapping is a piece of the address space.
type mapping struct{ start, size uintptr }

// cleanMappings are the read-only mappings of files of which no page was ever
// written to: dropping a page that was (a relocation) would lose it. The form
// is that of smaps (proc_pid_smaps(5)): a line like one of maps, then a line
// "Name: value" for each of its figures.
func cleanMappings(smaps io.Reader) []mapping {
	var all []mapping
	var m mapping
	for lines := birth.NewLines(smaps, 4096); ; {
		line, err := lines.Next()
		if err != nil {
			return all
		}
		if value, ok := bytes.CutPrefix(line, []byte("Anonymous:")); ok {
			if m.size > 0 && string(bytes.TrimSpace(value)) == "0 kB" {
				all = append(all, m)
			}
			m = mapping{}
		} else if len(line) > 0 && (line[0] < 'A' || line[0] > 'Z') {
			m = readOnlyFile(line)
		}
	}
}

// readOnlyFile reads "start-end perms offset dev inode path"; it is empty for
// any other kind of mapping.
func readOnlyFile(line []byte) mapping {
	from, rest, _ := bytes.Cut(line, []byte("-"))
	to, rest, _ := bytes.Cut(rest, []byte(" "))
	if len(rest) < 4 || rest[0] != 'r' || rest[1] != '-' || rest[3] != 'p' || !bytes.Contains(rest, []byte(" /")) {
		return mapping{}
	}
	start, err := strconv.ParseUint(string(from), 16, 64)
	if err != nil {
		return mapping{}
	}
	end, err := strconv.ParseUint(string(to), 16, 64)
	if err != nil || end < start {
		return mapping{}
	}
	return mapping{uintptr(start), uintptr(end - start)}
}
