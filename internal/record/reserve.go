package record

import (
	"fmt"
	"os"
	"path/filepath"
)

// reserveSize is the space that a run file takes before the run starts, in bytes. A storm of some hundred servers fits.
const reserveSize = 1 << 20

// reserve is disk space that is kept for a run file. Where the system can allocate blocks behind the end of a file they are the
// run file's own: it gets no tail of zeros, however the bench dies. Elsewhere they belong to a file beside it.
type reserve struct {
	beside *os.File // nil: the run file's own blocks
}

// takeReserve takes the space for f. A full disk is an error.
func takeReserve(f *os.File) (*reserve, error) {
	if allocate(f, reserveSize) == nil {
		return &reserve{}, nil
	}
	// Full, or a file system that can't: zeros that are written tell which.
	return reserveBeside(f)
}

// reserveBeside fills a file in the folder of f with zeros. Its name is removed at once where the system allows that:
// then the space comes back even when the bench is killed.
func reserveBeside(f *os.File) (*reserve, error) {
	beside, err := os.CreateTemp(filepath.Dir(f.Name()), ".reserve-*")
	if err != nil {
		return nil, err
	}
	r := &reserve{beside: beside}
	_ = os.Remove(beside.Name())
	_, err = beside.Write(make([]byte, reserveSize))
	if err == nil {
		err = beside.Sync() // file systems that allocate late say here that the disk is full
	}
	if err != nil {
		r.spend()
		return nil, fmt.Errorf("%d bytes: %w", reserveSize, err)
	}
	return r, nil
}

// spend gives up a reserve beside the run file. It reports whether that may have made room.
func (r *reserve) spend() bool {
	if r == nil || r.beside == nil {
		return false
	}
	_ = r.beside.Close()
	_ = os.Remove(r.beside.Name())
	r.beside = nil
	return true
}

// release gives back what f did not use.
func (r *reserve) release(f *os.File) error {
	if r == nil || r.spend() {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	return f.Truncate(info.Size()) // frees the blocks behind the end as well
}
