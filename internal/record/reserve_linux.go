package record

import (
	"errors"
	"os"
	"syscall"
)

// keepSize is FALLOC_FL_KEEP_SIZE of linux/falloc.h: blocks are allocated behind the end of the file, which stays where it is.
const keepSize = 0x01

// allocate takes n bytes of disk for f.
func allocate(f *os.File, n int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), keepSize, 0, n)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
