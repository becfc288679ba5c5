//go:build !linux

package doctor

import (
	"context"

	"github.com/shirou/gopsutil/v3/disk"
)

// lookAtSystem leaves out what only Linux has.
func (f *Facts) lookAtSystem() {
	for _, name := range []string{
		"proc", "evidence", "others", "user-namespace", "pid-namespace", "ns-last-pid", "files", "processes", "pid-max", "clock-ticks", "pid-1",
	} {
		f.Untried[name] = true
	}
	for _, name := range unixOnly {
		f.Untried[name] = true
	}
}

func (f *Facts) lookWithProcesses(context.Context, string) {}

func freeBytes(dir string) (uint64, error) {
	usage, err := disk.Usage(dir)
	if err != nil {
		return 0, err
	}
	return usage.Free, nil
}
