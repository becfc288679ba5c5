package keeper

import (
	"fmt"
	"os"
)

// maxStderr caps what is kept of a host's stderr, in bytes.
const maxStderr = 8 << 20

// cappedFile takes up to maxStderr, and nothing after that.
type cappedFile struct {
	file *os.File
	kept int
}

// Write never fails: who writes must go on even if nothing can be kept.
func (f *cappedFile) Write(b []byte) (int, error) {
	if f.kept < maxStderr {
		now := min(len(b), maxStderr-f.kept)
		_, _ = f.file.Write(b[:now])
		if f.kept += now; f.kept == maxStderr {
			fmt.Fprintf(f.file, "\n[leakbench: cut off after %d MiB]\n", maxStderr>>20)
		}
	}
	return len(b), nil
}
